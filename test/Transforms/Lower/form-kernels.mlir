// RUN: par-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(par-form-kernels))' | FileCheck %s

// A chain of elementwise ops of one shape is one kernel; a contraction stands alone.
// CHECK-LABEL: func.func @chain
// CHECK: par.einsum {{[^{]*}} :
// CHECK: math.tanh {{.*}}{par.kernel = [[N:[0-9]+]] : i64}
// CHECK: arith.addf {{.*}}{par.kernel = [[N]] : i64}
func.func @chain(%x: tensor<8x4xf32>, %w: tensor<4x4xf32>) -> tensor<8x4xf32> {
  %h = par.einsum "ik,jk->ij"(%x, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %t = math.tanh %h : tensor<8x4xf32>
  %y = arith.addf %t, %x : tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

// A broadcast used by two kernels is computed in both, not stored.
// CHECK-LABEL: func.func @broadcast
// CHECK: par.expand {{.*}}{par.kernel = [[A:[0-9]+]] : i64}
// CHECK: arith.mulf {{.*}}{par.kernel = [[A]] : i64}
// CHECK: par.einsum
// CHECK: par.expand {{.*}}{par.kernel = [[B:[0-9]+]] : i64}
// CHECK: arith.addf {{.*}}{par.kernel = [[B]] : i64}
func.func @broadcast(%x: tensor<4x4xf32>, %b: tensor<f32>) -> tensor<4x4xf32> {
  %e = par.expand %b dims [0, 1] : tensor<f32> -> tensor<4x4xf32>
  %s = arith.mulf %x, %e : tensor<4x4xf32>
  %h = par.einsum "ik,kj->ij"(%s, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = arith.addf %h, %e : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// The contraction between them needs the first kernel's value, so the two cannot be one.
// CHECK-LABEL: func.func @between
// CHECK: math.tanh {{.*}}{par.kernel = 0 : i64}
// CHECK: arith.addf {{.*}}{par.kernel = 1 : i64}
func.func @between(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %t = math.tanh %x : tensor<4x4xf32>
  %h = par.einsum "ik,kj->ij"(%t, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = arith.addf %t, %h : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
