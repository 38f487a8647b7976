// RUN: par-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(par-form-kernels))" | FileCheck %s

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

// What a row's sum needs is not computed again for every element: exp is a kernel of its own, the sum goes with the softmax.
// CHECK-LABEL: func.func @between
// CHECK: math.exp {{.*}}par.kernel = [[A:[0-9]+]] :
// CHECK: par.softmax {{.*}}par.kernel = [[B:[0-9]+]] :
// CHECK-NOT: par.kernel = [[A]] :
// CHECK: arith.addf {{.*}}par.kernel = [[B]] :
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

// The residual that a norm normalises is written by the norm's kernel; one that nobody else needs is not computed twice.
// CHECK-LABEL: func.func @residual_and_norm
// CHECK: arith.addf {{.*}}par.kernel = [[A:[0-9]+]] :
// CHECK: par.rms_norm {{.*}}par.kernel = [[A]] :
// CHECK: math.exp {{.*}}par.kernel = [[B:[0-9]+]] :
// CHECK-NOT: par.kernel = [[B]] :
// CHECK: return
func.func @residual_and_norm(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %w: tensor<8xf32>)
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %s = arith.addf %x, %y : tensor<4x8xf32>
  %n, %r = par.rms_norm %s, %w {eps = 1.0e-5 : f64} : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  %e = math.exp %x : tensor<4x8xf32>
  %m, %q = par.rms_norm %e, %w {eps = 1.0e-5 : f64} : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  return %s, %n, %m : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// The gradient of a residual stream and the accumulation of a norm weight's go with the norm's backward op.
// CHECK-LABEL: func.func @norm_backward
// CHECK: par.rms_norm_backward {{.*}}par.kernel = [[A:[0-9]+]] :
// CHECK-COUNT-3: arith.{{addf|mulf}} {{.*}}par.kernel = [[A]] :
// CHECK: return
func.func @norm_backward(%dy: tensor<4x8xf32>, %x: tensor<4x8xf32>, %w: tensor<8xf32>, %r: tensor<4xf32>, %d: tensor<4x8xf32>,
    %beta: tensor<f32>, %acc: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>) {
  %dx, %dw = par.rms_norm_backward %dy, %x, %w, %r : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<8xf32>)
  %s = arith.addf %d, %dx : tensor<4x8xf32>
  %e = par.expand %beta dims [0] : tensor<f32> -> tensor<8xf32>
  %m = arith.mulf %e, %acc : tensor<8xf32>
  %t = arith.addf %m, %dw : tensor<8xf32>
  return %s, %t : tensor<4x8xf32>, tensor<8xf32>
}

// Sums over rows and scattered rows begin with what they are added to; products in a row accumulate one by one.
// CHECK-LABEL: func.func @sums
// CHECK: par.reduce {{.*}}par.kernel = [[A:[0-9]+]] :
// CHECK: arith.addf {{.*}}par.kernel = [[A]] :
// CHECK: par.embedding_backward {{.*}}par.kernel = [[B:[0-9]+]] :
// CHECK: arith.addf {{.*}}par.kernel = [[B]] :
// CHECK: arith.mulf {{.*}}par.kernel = [[C:[0-9]+]] :
// CHECK: par.einsum {{.*}}par.kernel = [[C]] :
// CHECK: arith.addf {{.*}}par.kernel = [[C]] :
// CHECK: par.einsum {{.*}}par.kernel = [[D:[0-9]+]] :
// CHECK: arith.addf {{.*}}par.kernel = [[D]] :
func.func @sums(%x: tensor<4x8xf32>, %b: tensor<8xf32>, %ids: tensor<4xi32>, %table: tensor<5x8xf32>, %beta: tensor<f32>,
    %acc: tensor<8x8xf32>, %y: tensor<4x8xf32>) -> (tensor<8xf32>, tensor<5x8xf32>, tensor<8x8xf32>) {
  %r = par.reduce sum %x dims [0] : tensor<4x8xf32> -> tensor<8xf32>
  %s = arith.addf %b, %r : tensor<8xf32>
  %e = par.embedding_backward %ids, %x : (tensor<4xi32>, tensor<4x8xf32>) -> tensor<5x8xf32>
  %t = arith.addf %table, %e : tensor<5x8xf32>
  %f = par.expand %beta dims [0, 1] : tensor<f32> -> tensor<8x8xf32>
  %m = arith.mulf %f, %acc : tensor<8x8xf32>
  %p = par.einsum "bi,bj->ij"(%x, %y) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %u = arith.addf %m, %p : tensor<8x8xf32>
  %q = par.einsum "bi,bj->ij"(%y, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %v = arith.addf %u, %q : tensor<8x8xf32>
  return %s, %t, %v : tensor<8xf32>, tensor<5x8xf32>, tensor<8x8xf32>
}

// Attention reads queries, keys and values where a joint projection left them; a slice across rows is copied.
// CHECK-LABEL: func.func @attention
// CHECK: par.slice {{.*}}from [0, 0, 0, 0, 0]{{.*}}par.kernel = [[A:[0-9]+]] :
// CHECK: par.slice {{.*}}from [0, 0, 1, 0, 0]{{.*}}par.kernel = [[A]] :
// CHECK: par.slice {{.*}}from [0, 0, 2, 0, 0]{{.*}}par.kernel = [[A]] :
// CHECK: par.attention {{.*}}par.kernel = [[A]] :
// CHECK-LABEL: func.func @across
// CHECK: par.slice {{.*}}par.kernel = [[B:[0-9]+]] :
// CHECK-NOT: par.kernel = [[B]] :
// CHECK: return
func.func @attention(%qkv: tensor<2x6x3x2x4xf32>, %p: tensor<6xi32>) -> tensor<2x6x2x1x4xf32> {
  %0 = par.slice %qkv from [0, 0, 0, 0, 0] : tensor<2x6x3x2x4xf32> -> tensor<2x6x1x2x4xf32>
  %q = par.reshape %0 : tensor<2x6x1x2x4xf32> -> tensor<2x6x2x1x4xf32>
  %1 = par.slice %qkv from [0, 0, 1, 0, 0] : tensor<2x6x3x2x4xf32> -> tensor<2x6x1x2x4xf32>
  %k = par.reshape %1 : tensor<2x6x1x2x4xf32> -> tensor<2x6x2x4xf32>
  %2 = par.slice %qkv from [0, 0, 2, 0, 0] : tensor<2x6x3x2x4xf32> -> tensor<2x6x1x2x4xf32>
  %v = par.reshape %2 : tensor<2x6x1x2x4xf32> -> tensor<2x6x2x4xf32>
  %out, %lse = par.attention %q, %k, %v positions %p, %p {scale = 0.5 : f64}
      : (tensor<2x6x2x1x4xf32>, tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>, tensor<6xi32>, tensor<6xi32>) -> (tensor<2x6x2x1x4xf32>, tensor<2x2x1x6xf32>)
  return %out : tensor<2x6x2x1x4xf32>
}
func.func @across(%x: tensor<2x6x2x1x5xf32>, %k: tensor<2x6x2x4xf32>, %p: tensor<6xi32>) -> tensor<2x6x2x1x4xf32> {
  %q = par.slice %x from [0, 0, 0, 0, 1] : tensor<2x6x2x1x5xf32> -> tensor<2x6x2x1x4xf32>
  %out, %lse = par.attention %q, %k, %k positions %p, %p {scale = 0.5 : f64}
      : (tensor<2x6x2x1x4xf32>, tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>, tensor<6xi32>, tensor<6xi32>) -> (tensor<2x6x2x1x4xf32>, tensor<2x2x1x6xf32>)
  return %out : tensor<2x6x2x1x4xf32>
}

// Products that are added up: each but the first is one with the addition, as C = A·B + C; what other kernels read is left alone.
// CHECK-LABEL: func.func @sum_of_products
// CHECK: par.einsum "ij,jk->ik"(%{{.*}}, %{{.*}}) :
// CHECK: par.einsum {{.*}}par.kernel = [[A:[0-9]+]] :
// CHECK: arith.addf {{.*}}par.kernel = [[A]] :
// CHECK: par.einsum {{.*}}par.kernel = [[B:[0-9]+]] :
// CHECK: arith.addf {{.*}}par.kernel = [[B]] :
func.func @sum_of_products(%x: tensor<4x4xf32>, %u: tensor<4x4xf32>, %v: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a = par.einsum "ij,jk->ik"(%x, %u) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = par.einsum "ij,jk->ik"(%x, %v) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = par.einsum "ij,jk->ik"(%x, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = arith.addf %a, %b : tensor<4x4xf32>
  %t = arith.addf %s, %c : tensor<4x4xf32>
  return %t : tensor<4x4xf32>
}

// Sums of squares are products of their own; their sum is one kernel, not what one of them begins with.
// CHECK-LABEL: func.func @norm
// CHECK-COUNT-3: par.einsum "ab,ab->"(%{{[a-z0-9]+}}, %{{[a-z0-9]+}}) :
// CHECK-NOT: einsum
// CHECK: %[[S:.*]] = arith.addf %{{.*}}, %{{.*}} {par.kernel = [[SUMS:.*]] : i64}
// CHECK: arith.addf %[[S]], %{{.*}} {par.kernel = [[SUMS]] : i64}
func.func @norm(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %z: tensor<2x3xf32>) -> tensor<f32> {
  %0 = par.einsum "ab,ab->"(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<f32>
  %1 = par.einsum "ab,ab->"(%y, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<f32>
  %2 = arith.addf %0, %1 : tensor<f32>
  %3 = par.einsum "ab,ab->"(%z, %z) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<f32>
  %4 = arith.addf %2, %3 : tensor<f32>
  return %4 : tensor<f32>
}

// -----

// On a device dropout goes on with the elements of what is before it, and the norm with the sum.
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
// CHECK-LABEL: func.func @dropout_on_device
// CHECK: math.tanh {{.*}}par.kernel = [[DROP:[0-9]+]] :
// CHECK: par.dropout {{.*}}par.kernel = [[DROP]] :
// CHECK: arith.addf {{.*}}par.kernel = [[DROP]] :
// CHECK: par.rms_norm {{.*}}par.kernel = [[DROP]] :
func.func @dropout_on_device(%x: tensor<4x4xf32>, %r: tensor<4x4xf32>, %w: tensor<4xf32>, %key: tensor<2xi32>, %site: tensor<i32>, %row: tensor<i32>, %offsets: tensor<2xi32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %t = math.tanh %x : tensor<4x4xf32>
  %d = par.dropout %t key %key site %site row %row offsets %offsets {p = 1.0e-01 : f64, strides = array<i64: 4, 1>} : (tensor<4x4xf32>, tensor<2xi32>, tensor<i32>, tensor<i32>, tensor<2xi32>) -> tensor<4x4xf32>
  %s = arith.addf %r, %d : tensor<4x4xf32>
  %n, %q = par.rms_norm %s, %w {eps = 1.0e-6} : (tensor<4x4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>)
  return %s, %n : tensor<4x4xf32>, tensor<4x4xf32>
}
}

// -----

// On a processor it is a kernel of its own, as it was.
// CHECK-LABEL: func.func @dropout_on_processor
// CHECK: math.tanh {{.*}}par.kernel = [[#TANH:]] :
// CHECK-NOT: par.dropout {{.*}}par.kernel = [[#TANH]] :
// CHECK: par.dropout
func.func @dropout_on_processor(%x: tensor<4x4xf32>, %key: tensor<2xi32>, %site: tensor<i32>, %row: tensor<i32>, %offsets: tensor<2xi32>) -> tensor<4x4xf32> {
  %t = math.tanh %x : tensor<4x4xf32>
  %d = par.dropout %t key %key site %site row %row offsets %offsets {p = 1.0e-01 : f64, strides = array<i64: 4, 1>} : (tensor<4x4xf32>, tensor<2xi32>, tensor<i32>, tensor<i32>, tensor<2xi32>) -> tensor<4x4xf32>
  return %d : tensor<4x4xf32>
}
