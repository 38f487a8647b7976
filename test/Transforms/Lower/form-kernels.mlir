// RUN: par-opt %s -pass-pipeline="builtin.module(func.func(par-form-kernels))" | FileCheck %s

// Elementwise ops of one shape are one kernel, with the broadcast bias and the constant; the product is none.
// CHECK-LABEL: func.func @bias
// CHECK: par.einsum
// CHECK-NOT: par.kernel
// CHECK: par.expand {{.*}}par.kernel = [[A:[0-9]+]] :
// CHECK: arith.addf {{.*}}par.kernel = [[A]] :
// CHECK: math.tanh {{.*}}par.kernel = [[A]] :
func.func @bias(%x: tensor<4x8xf32>, %w: tensor<2x8xf32>, %b: tensor<2xf32>) -> tensor<4x2xf32> {
  %p = par.einsum "ij,kj->ik"(%x, %w) : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
  %e = par.expand %b dims [0] : tensor<2xf32> -> tensor<4x2xf32>
  %s = arith.addf %p, %e : tensor<4x2xf32>
  %t = math.tanh %s : tensor<4x2xf32>
  return %t : tensor<4x2xf32>
}

// An op that somebody needs in between keeps a kernel of its own.
// CHECK-LABEL: func.func @between
// CHECK: math.exp {{.*}}par.kernel = [[#K:]] :
// CHECK: par.softmax {{.*}}par.kernel = [[#K + 1]] :
// CHECK: arith.addf {{.*}}par.kernel = [[#K + 2]] :
func.func @between(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = math.exp %x : tensor<4x8xf32>
  %b = par.softmax %a : tensor<4x8xf32>
  %c = arith.addf %a, %b : tensor<4x8xf32>
  return %c : tensor<4x8xf32>
}

// A broadcast used by two kernels is computed in both, not stored.
// CHECK-LABEL: func.func @broadcast
// CHECK: par.expand {{.*}}{par.kernel = [[#K:]] : i64}
// CHECK: arith.mulf {{.*}}{par.kernel = [[#K]] : i64}
// CHECK: par.einsum
// CHECK: par.expand {{.*}}{par.kernel = [[#K + 1]] : i64}
// CHECK: arith.addf {{.*}}{par.kernel = [[#K + 1]] : i64}
func.func @broadcast(%x: tensor<4x4xf32>, %b: tensor<f32>) -> tensor<4x4xf32> {
  %e = par.expand %b dims [0, 1] : tensor<f32> -> tensor<4x4xf32>
  %s = arith.mulf %x, %e : tensor<4x4xf32>
  %h = par.einsum "ik,kj->ij"(%s, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = arith.addf %h, %e : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// A product in between that does not lead back is moved behind the kernel: one kernel, whose operands are all there before it.
// CHECK-LABEL: func.func @around
// CHECK: %[[D:.*]] = par.einsum "ij,jk->ik"(%arg1, %arg1)
// CHECK: math.tanh {{.*}}par.kernel = [[A:[0-9]+]] :
// CHECK: arith.mulf {{.*}}par.kernel = [[A]] :
// CHECK: par.einsum "ij,jk->ik"
func.func @around(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %a = math.tanh %x : tensor<4x4xf32>
  %early = par.einsum "ij,jk->ik"(%a, %y) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = par.einsum "ij,jk->ik"(%y, %y) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = arith.mulf %a, %d : tensor<4x4xf32>
  return %early, %b : tensor<4x4xf32>, tensor<4x4xf32>
}

// Through two other kernels: the last op may join the second group or the first, not both.
// CHECK-LABEL: func.func @through
// CHECK: math.tanh {{.*}}par.kernel = [[#K:]] :
// CHECK: par.einsum
// CHECK: math.sin {{.*}}par.kernel = [[#K + 2]] :
// CHECK-NEXT: arith.addf {{.*}}par.kernel = [[#K + 2]] :
func.func @through(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a = math.tanh %x : tensor<4x4xf32>
  %h = par.einsum "ij,jk->ik"(%a, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = math.sin %h : tensor<4x4xf32>
  %c = arith.addf %a, %b : tensor<4x4xf32>
  return %c : tensor<4x4xf32>
}

// What is only added to a product, or scaled and added, goes with it; a bias or a product of tensors does not.
// CHECK-LABEL: func.func @accumulate
// CHECK: par.einsum {{.*}}par.kernel = [[A:[0-9]+]] :
// CHECK: arith.addf {{.*}}par.kernel = [[A]] :
// CHECK: arith.mulf {{.*}}par.kernel = [[B:[0-9]+]] :
// CHECK: par.einsum {{.*}}par.kernel = [[B]] :
// CHECK: arith.addf {{.*}}par.kernel = [[B]] :
// CHECK: par.einsum "ij,kj->ik"(%{{[a-z0-9]+}}, %{{[a-z0-9]+}}) :
// CHECK: par.einsum "ij,kj->ik"(%{{[a-z0-9]+}}, %{{[a-z0-9]+}}) :
func.func @accumulate(%x: tensor<4x8xf32>, %w: tensor<2x8xf32>, %r: tensor<4x2xf32>, %beta: tensor<f32>, %b: tensor<2xf32>)
    -> (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) {
  %p = par.einsum "ij,kj->ik"(%x, %w) : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
  %s = arith.addf %r, %p : tensor<4x2xf32>
  %e = par.expand %beta dims [0, 1] : tensor<f32> -> tensor<4x2xf32>
  %m = arith.mulf %r, %e : tensor<4x2xf32>
  %q = par.einsum "ij,kj->ik"(%x, %w) : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
  %t = arith.addf %m, %q : tensor<4x2xf32>
  %u = par.einsum "ij,kj->ik"(%x, %w) : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
  %f = par.expand %b dims [0] : tensor<2xf32> -> tensor<4x2xf32>
  %v = arith.addf %u, %f : tensor<4x2xf32>
  %y = par.einsum "ij,kj->ik"(%x, %w) : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
  %n = arith.mulf %r, %r : tensor<4x2xf32>
  %z = arith.addf %n, %y : tensor<4x2xf32>
  return %s, %t, %v, %z : tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>
}
