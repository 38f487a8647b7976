// RUN: par-opt %s -pass-pipeline="builtin.module(func.func(par-form-kernels))" | FileCheck %s

// Elementwise ops of one shape are one kernel, with the broadcast bias and the constant; the product is none.
// CHECK-LABEL: func.func @bias
// CHECK: par.einsum
// CHECK-NOT: par.kernel
// CHECK: par.expand {{.*}}par.kernel = 0
// CHECK: arith.addf {{.*}}par.kernel = 0
// CHECK: math.tanh {{.*}}par.kernel = 0
func.func @bias(%x: tensor<4x8xf32>, %w: tensor<2x8xf32>, %b: tensor<2xf32>) -> tensor<4x2xf32> {
  %p = par.einsum "ij,kj->ik"(%x, %w) : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
  %e = par.expand %b dims [0] : tensor<2xf32> -> tensor<4x2xf32>
  %s = arith.addf %p, %e : tensor<4x2xf32>
  %t = math.tanh %s : tensor<4x2xf32>
  return %t : tensor<4x2xf32>
}

// An op that somebody needs in between keeps a kernel of its own.
// CHECK-LABEL: func.func @between
// CHECK: math.exp {{.*}}par.kernel = [[A:[0-9]+]] :
// CHECK: par.softmax {{.*}}par.kernel = [[B:[0-9]+]] :
// CHECK: arith.addf {{.*}}par.kernel = [[C:[0-9]+]] :
func.func @between(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = math.exp %x : tensor<4x8xf32>
  %b = par.softmax %a : tensor<4x8xf32>
  %c = arith.addf %a, %b : tensor<4x8xf32>
  return %c : tensor<4x8xf32>
}

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
