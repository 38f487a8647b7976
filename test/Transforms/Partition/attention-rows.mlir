// RUN: par-opt %s -par-propagate-pipeline -par-partition-pipeline | FileCheck %s

par.mesh @mesh <["x"=2]>

// The rows of a rank are no diagonal with all rows of k; whole sequences are.
// CHECK-LABEL: func.func @rows
// CHECK: par.attention
// CHECK-NOT: diagonal
// CHECK: tensor<2x4x1x1x8xf32>
func.func @rows(%q: tensor<2x8x1x1x8xf32> {par.sharding = #par.sharding<@mesh, [{}, {"x"}, {}, {}, {}]>}, %k: tensor<2x8x1x8xf32>, %p: tensor<8xi32>) -> tensor<2x8x1x1x8xf32> {
  %out, %lse = par.attention %q, %k, %k positions %p, %p {causal, diagonal, scale = 0.5 : f64}
      : (tensor<2x8x1x1x8xf32>, tensor<2x8x1x8xf32>, tensor<2x8x1x8xf32>, tensor<8xi32>, tensor<8xi32>) -> (tensor<2x8x1x1x8xf32>, tensor<2x1x1x8xf32>)
  return %out : tensor<2x8x1x1x8xf32>
}

// CHECK-LABEL: func.func @sequences
// CHECK: par.attention {{.*}}diagonal{{.*}}tensor<1x8x1x1x8xf32>
func.func @sequences(%q: tensor<2x8x1x1x8xf32> {par.sharding = #par.sharding<@mesh, [{"x"}, {}, {}, {}, {}]>}, %k: tensor<2x8x1x8xf32>, %p: tensor<8xi32>) -> tensor<2x8x1x1x8xf32> {
  %out, %lse = par.attention %q, %k, %k positions %p, %p {causal, diagonal, scale = 0.5 : f64}
      : (tensor<2x8x1x1x8xf32>, tensor<2x8x1x8xf32>, tensor<2x8x1x8xf32>, tensor<8xi32>, tensor<8xi32>) -> (tensor<2x8x1x1x8xf32>, tensor<2x1x1x8xf32>)
  return %out : tensor<2x8x1x1x8xf32>
}
