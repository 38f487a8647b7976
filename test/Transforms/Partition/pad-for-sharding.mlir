// RUN: par-opt %s -split-input-file -par-propagate-shardings -par-insert-reshards -par-pad-for-sharding | FileCheck %s

// Five columns over two ranks: six with padding.
par.mesh @mesh <["tp"=2]>
par.variable @v : tensor<4x5xf32> dims ["a", "b"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{}, {"tp"}]>}

// Nothing is known of the padding of an input: it is masked before it is summed.
// CHECK-LABEL: func.func @input
// CHECK-SAME: tensor<4x6xf32> {par.global_type = tensor<4x5xf32>
// CHECK: par.iota dim 1
// CHECK: arith.cmpi slt
// CHECK: %[[M:.*]] = arith.select
// CHECK: par.reduce sum %[[M]] dims [1]
func.func @input(%x: tensor<4x5xf32> {par.sharding = #par.sharding<@mesh, [{}, {"tp"}]>}) -> tensor<4xf32> {
  %s = par.reduce sum %x dims [1] : tensor<4x5xf32> -> tensor<4xf32>
  return %s : tensor<4xf32>
}

// The padding of a variable is zero, and tanh keeps it so.
// CHECK-LABEL: func.func @zero
// CHECK-NOT: arith.select
// CHECK: %[[T:.*]] = math.tanh %{{.*}} : tensor<4x6xf32>
// CHECK-NEXT: par.reduce sum %[[T]] dims [1]
func.func @zero(%x: tensor<4x5xf32> {par.place = #par.place<variable @v>, par.sharding = #par.sharding<@mesh, [{}, {"tp"}]>}) -> tensor<4xf32> {
  %t = math.tanh %x : tensor<4x5xf32>
  %s = par.reduce sum %t dims [1] : tensor<4x5xf32> -> tensor<4xf32>
  return %s : tensor<4xf32>
}

// exp makes it one.
// CHECK-LABEL: func.func @one
// CHECK: %[[E:.*]] = math.exp %{{.*}} : tensor<4x6xf32>
// CHECK: %[[M:.*]] = arith.select %{{.*}}, %[[E]],
// CHECK: par.reduce sum %[[M]] dims [1]
func.func @one(%x: tensor<4x5xf32> {par.place = #par.place<variable @v>, par.sharding = #par.sharding<@mesh, [{}, {"tp"}]>}) -> tensor<4xf32> {
  %e = math.exp %x : tensor<4x5xf32>
  %s = par.reduce sum %e dims [1] : tensor<4x5xf32> -> tensor<4xf32>
  return %s : tensor<4xf32>
}

// What a function hands over has the padding that it made: zeros, or ones.
par.variable @w : tensor<8x5xf32> dims ["a", "b"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{}, {"tp"}]>}
func.func @forward_0(%x: tensor<4x8xf32> {par.place = #par.place<boundary 0>}, %w: tensor<8x5xf32> {par.place = #par.place<variable @w>})
    -> (tensor<4x5xf32> {par.place = #par.place<residual 0>}, tensor<4x5xf32> {par.place = #par.place<residual 1>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %h = par.einsum "bk,kn->bn"(%x, %w) : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
  %e = math.exp %h : tensor<4x5xf32>
  return %h, %e : tensor<4x5xf32>, tensor<4x5xf32>
}
// CHECK-LABEL: func.func @backward_0
// CHECK-SAME: %[[H:[a-z0-9]+]]: tensor<4x6xf32> {{[^%]*}}, %[[E:[a-z0-9]+]]: tensor<4x6xf32>
// CHECK-NOT: arith.select
// CHECK: par.reduce sum %[[H]] dims [1]
// CHECK: %[[M:.*]] = arith.select %{{.*}}, %[[E]],
// CHECK: par.reduce sum %[[M]] dims [1]
func.func @backward_0(%h: tensor<4x5xf32> {par.place = #par.place<residual 0>}, %e: tensor<4x5xf32> {par.place = #par.place<residual 1>})
    -> (tensor<4xf32>, tensor<4xf32>) attributes {par.phase = #par.phase<backward, chunk = 0>} {
  %s = par.reduce sum %h dims [1] : tensor<4x5xf32> -> tensor<4xf32>
  %t = par.reduce sum %e dims [1] : tensor<4x5xf32> -> tensor<4xf32>
  return %s, %t : tensor<4xf32>, tensor<4xf32>
}

// -----

par.mesh @mesh <["tp"=2]>
// Where no function is handed anything with padding, what an op makes may have some.
// CHECK-LABEL: func.func @made
// CHECK-SAME: tensor<4xf32> {par.global_type = tensor<4xf32>
// CHECK: %[[E:.*]] = par.expand %{{.*}} dims [1] {{.*}} tensor<4x6xf32>
// CHECK: %[[M:.*]] = arith.select %{{.*}}, %[[E]],
// CHECK: par.reduce sum %[[M]] dims [1]
func.func @made(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = par.expand %x dims [1] : tensor<4xf32> -> tensor<4x5xf32>
  %c = par.constrain %e <@mesh, [{}, {"tp"}]> : tensor<4x5xf32>
  %s = par.reduce sum %c dims [1] : tensor<4x5xf32> -> tensor<4xf32>
  return %s : tensor<4xf32>
}
