// RUN: par-opt %s -split-input-file -par-set-target="target=cuda chip=sm_90" -par-hoist-constants | FileCheck %s

// A processor's attention looks at positions in any case.
// RUN: par-opt %s -split-input-file -par-hoist-constants | FileCheck %s --check-prefix=CPU
// CPU-NOT: diagonal

// Both calls give row numbers.
// CHECK-LABEL: func.func private @block
// CHECK: par.attention {{.*}}diagonal
func.func private @block(%q: tensor<1x8x1x1x8xbf16>, %k: tensor<1x8x1x8xbf16>, %p: tensor<8xi32>) -> tensor<1x8x1x1x8xbf16> {
  %out, %lse = par.attention %q, %k, %k positions %p, %p {causal, scale = 0.5 : f64}
      : (tensor<1x8x1x1x8xbf16>, tensor<1x8x1x8xbf16>, tensor<1x8x1x8xbf16>, tensor<8xi32>, tensor<8xi32>) -> (tensor<1x8x1x1x8xbf16>, tensor<1x1x1x8xf32>)
  return %out : tensor<1x8x1x1x8xbf16>
}
func.func @run(%q: tensor<1x8x1x1x8xbf16>, %k: tensor<1x8x1x8xbf16>) -> tensor<1x8x1x1x8xbf16> {
  %p = par.iota dim 0 : tensor<8xi32>
  %0 = par.call @block(%q, %k, %p) : (tensor<1x8x1x1x8xbf16>, tensor<1x8x1x8xbf16>, tensor<8xi32>) -> tensor<1x8x1x1x8xbf16>
  %1 = par.call @block(%0, %k, %p) : (tensor<1x8x1x1x8xbf16>, tensor<1x8x1x8xbf16>, tensor<8xi32>) -> tensor<1x8x1x1x8xbf16>
  return %1 : tensor<1x8x1x1x8xbf16>
}

// -----

// One call between others does not: all rows have one position.
// CHECK-LABEL: func.func private @block
// CHECK-NOT: diagonal
func.func private @block(%q: tensor<1x8x1x1x8xbf16>, %k: tensor<1x8x1x8xbf16>, %p: tensor<8xi32>) -> tensor<1x8x1x1x8xbf16> {
  %out, %lse = par.attention %q, %k, %k positions %p, %p {causal, scale = 0.5 : f64}
      : (tensor<1x8x1x1x8xbf16>, tensor<1x8x1x8xbf16>, tensor<1x8x1x8xbf16>, tensor<8xi32>, tensor<8xi32>) -> (tensor<1x8x1x1x8xbf16>, tensor<1x1x1x8xf32>)
  return %out : tensor<1x8x1x1x8xbf16>
}
func.func @run(%q: tensor<1x8x1x1x8xbf16>, %k: tensor<1x8x1x8xbf16>) -> tensor<1x8x1x1x8xbf16> {
  %p = par.iota dim 0 : tensor<8xi32>
  %same = arith.constant dense<0> : tensor<8xi32>
  %0 = par.call @block(%q, %k, %p) : (tensor<1x8x1x1x8xbf16>, tensor<1x8x1x8xbf16>, tensor<8xi32>) -> tensor<1x8x1x1x8xbf16>
  %1 = par.call @block(%0, %k, %same) : (tensor<1x8x1x1x8xbf16>, tensor<1x8x1x8xbf16>, tensor<8xi32>) -> tensor<1x8x1x1x8xbf16>
  %2 = par.call @block(%1, %k, %p) : (tensor<1x8x1x1x8xbf16>, tensor<1x8x1x8xbf16>, tensor<8xi32>) -> tensor<1x8x1x1x8xbf16>
  return %2 : tensor<1x8x1x1x8xbf16>
}

// -----

// Positions that are an input may be any; so may those of keys beside row numbers of queries.
// CHECK-LABEL: func.func @run
// CHECK-NOT: diagonal
func.func @run(%q: tensor<1x8x1x1x8xbf16>, %k: tensor<1x8x1x8xbf16>, %given: tensor<8xi32>) -> tensor<1x8x1x1x8xbf16> {
  %p = par.iota dim 0 : tensor<8xi32>
  %out, %lse = par.attention %q, %k, %k positions %p, %given {causal, scale = 0.5 : f64}
      : (tensor<1x8x1x1x8xbf16>, tensor<1x8x1x8xbf16>, tensor<1x8x1x8xbf16>, tensor<8xi32>, tensor<8xi32>) -> (tensor<1x8x1x1x8xbf16>, tensor<1x1x1x8xf32>)
  return %out : tensor<1x8x1x1x8xbf16>
}
