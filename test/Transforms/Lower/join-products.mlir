// RUN: par-opt %s -pass-pipeline='builtin.module(func.func(par-form-kernels,par-join-products))' --split-input-file | FileCheck %s

// One factor in common, as A or as B: one work, though the second product comes after a use of the first.
// CHECK-LABEL: func.func @common_factor(
// CHECK: par.einsum "ik,jk->ij"(%arg0, %arg1) {par.kernel = [[N:[0-9]+]] : i64}
// CHECK-NEXT: par.einsum "ik,jk->ij"(%arg0, %arg2) {par.kernel = [[N]] : i64}
// CHECK: arith.mulf
func.func @common_factor(%x: tensor<8x4xf32>, %w: tensor<6x4xf32>, %v: tensor<5x4xf32>) -> (tensor<8x6xf32>, tensor<8x5xf32>) {
  %0 = par.einsum "ik,jk->ij"(%x, %w) : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
  %1 = par.einsum "ik,jk->ij"(%x, %v) : (tensor<8x4xf32>, tensor<5x4xf32>) -> tensor<8x5xf32>
  %2 = arith.mulf %0, %0 : tensor<8x6xf32>
  return %2, %1 : tensor<8x6xf32>, tensor<8x5xf32>
}

// -----

// Gradients of two weights that are added to what was there, each to its own.
// CHECK-LABEL: func.func @gradients(
// CHECK: par.einsum "ij,ik->jk"(%arg1, %arg0) {par.kernel = [[N:[0-9]+]] : i64}
// CHECK-NEXT: arith.addf %arg3, %{{.*}} {par.kernel = [[N]] : i64}
// CHECK-NEXT: par.einsum "ij,ik->jk"(%arg2, %arg0) {par.kernel = [[N]] : i64}
// CHECK-NEXT: arith.addf %arg4, %{{.*}} {par.kernel = [[N]] : i64}
func.func @gradients(%x: tensor<8x4xf32>, %dy: tensor<8x6xf32>, %dz: tensor<8x5xf32>, %g: tensor<6x4xf32>, %h: tensor<5x4xf32>) -> (tensor<6x4xf32>, tensor<5x4xf32>) {
  %0 = par.einsum "ij,ik->jk"(%dy, %x) : (tensor<8x6xf32>, tensor<8x4xf32>) -> tensor<6x4xf32>
  %1 = arith.addf %g, %0 : tensor<6x4xf32>
  %2 = par.einsum "ij,ik->jk"(%dz, %x) : (tensor<8x5xf32>, tensor<8x4xf32>) -> tensor<5x4xf32>
  %3 = arith.addf %h, %2 : tensor<5x4xf32>
  return %1, %3 : tensor<6x4xf32>, tensor<5x4xf32>
}

// -----

// A sum of three products is one work; what stands between and is no part of it goes on by itself.
// CHECK-LABEL: func.func @sum(
// CHECK-NEXT: %[[A:.*]] = par.einsum "ij,jk->ik"(%arg1, %arg4) {par.kernel = [[N:[0-9]+]] : i64}
// CHECK-NEXT: %[[B:.*]] = par.einsum "ij,jk->ik"(%arg2, %arg5) {par.kernel = [[N]] : i64}
// CHECK-NEXT: %[[C:.*]] = arith.addf %[[A]], %[[B]] {par.kernel = [[N]] : i64}
// CHECK-NEXT: %[[D:.*]] = par.einsum "ij,jk->ik"(%arg3, %arg6) {par.kernel = [[N]] : i64}
// CHECK-NEXT: arith.addf %[[C]], %[[D]] {par.kernel = [[N]] : i64}
// CHECK-NEXT: par.einsum "ij,ik->jk"(%arg1, %arg0) :
func.func @sum(%x: tensor<8x4xf32>, %a: tensor<8x6xf32>, %b: tensor<8x5xf32>, %c: tensor<8x2xf32>, %w: tensor<6x4xf32>, %v: tensor<5x4xf32>, %u: tensor<2x4xf32>) -> (tensor<8x4xf32>, tensor<6x4xf32>) {
  %0 = par.einsum "ij,jk->ik"(%a, %w) : (tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
  %1 = par.einsum "ij,ik->jk"(%a, %x) : (tensor<8x6xf32>, tensor<8x4xf32>) -> tensor<6x4xf32>
  %2 = par.einsum "ij,jk->ik"(%b, %v) : (tensor<8x5xf32>, tensor<5x4xf32>) -> tensor<8x4xf32>
  %3 = arith.addf %0, %2 : tensor<8x4xf32>
  %4 = par.einsum "ij,jk->ik"(%c, %u) : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
  %5 = arith.addf %3, %4 : tensor<8x4xf32>
  return %5, %1 : tensor<8x4xf32>, tensor<6x4xf32>
}

// -----

// The second product reads what is made of the first.
// CHECK-LABEL: func.func @dependent(
// CHECK-NOT: par.kernel
// CHECK: return
func.func @dependent(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = par.einsum "ik,jk->ij"(%x, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = par.einsum "ik,jk->ij"(%0, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// The third product has a factor in common with the first, but needs the second, which needs the first.
// CHECK-LABEL: func.func @chained(
// CHECK-NOT: par.kernel
// CHECK: return
func.func @chained(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %v: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = par.einsum "ik,jk->ij"(%x, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = par.einsum "ik,kj->ij"(%0, %v) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = par.einsum "ik,jk->ij"(%x, %1) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Parts of a product that live one after the other: as one they would live at one time.
// CHECK-LABEL: func.func @parts(
// CHECK: par.einsum "ik,jk->ij"(%arg0, %arg2) :
// CHECK: par.reduce
// CHECK: par.einsum "ik,jk->ij"(%arg1, %arg2) :
func.func @parts(%x: tensor<8x4xf32>, %y: tensor<8x4xf32>, %w: tensor<6x4xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = par.einsum "ik,jk->ij"(%x, %w) : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
  %1 = par.reduce max %0 dims [1] : tensor<8x6xf32> -> tensor<8xf32>
  %2 = par.einsum "ik,jk->ij"(%y, %w) : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
  %3 = par.reduce max %2 dims [1] : tensor<8x6xf32> -> tensor<8xf32>
  return %1, %3 : tensor<8xf32>, tensor<8xf32>
}

// -----

// Other sizes, another side, other types, no matrices: works of their own.
// CHECK-LABEL: func.func @apart(
// CHECK-COUNT-4: par.einsum {{[^{]*}} ->
// CHECK: par.einsum "i,i->"(%arg6, %arg6) : 
// CHECK-NEXT: par.einsum "i,i->"(%arg6, %arg6) :
// CHECK: return
func.func @apart(%x: tensor<8x4xf32>, %w: tensor<4x4xf32>, %r: tensor<8x3xf32>, %a: tensor<8x4xbf16>, %b: tensor<6x4xbf16>, %c: tensor<5x4xbf16>, %t: tensor<4xf32>)
    -> (tensor<8x4xf32>, tensor<4x3xf32>, tensor<8x6xbf16>, tensor<8x5xbf16>, tensor<f32>, tensor<f32>) {
  %0 = par.einsum "ik,jk->ij"(%x, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %1 = par.einsum "ij,ik->jk"(%x, %r) : (tensor<8x4xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  %2 = par.einsum "ik,jk->ij"(%a, %b) : (tensor<8x4xbf16>, tensor<6x4xbf16>) -> tensor<8x6xbf16>
  %3 = par.einsum "ik,jk->ij"(%a, %c) : (tensor<8x4xbf16>, tensor<5x4xbf16>) -> tensor<8x5xbf16>
  %4 = par.einsum "i,i->"(%t, %t) : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  %5 = par.einsum "i,i->"(%t, %t) : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return %0, %1, %2, %3, %4, %5 : tensor<8x4xf32>, tensor<4x3xf32>, tensor<8x6xbf16>, tensor<8x5xbf16>, tensor<f32>, tensor<f32>
}

// -----

// What runs beside a collective stays before its end.
// CHECK-LABEL: func.func @beside(
// CHECK: par.einsum "ik,jk->ij"(%arg0, %arg1) :
// CHECK: par.wait
// CHECK: par.einsum "ik,jk->ij"(%arg0, %arg2) :
par.mesh @mesh <["dp"=2]>
func.func @beside(%x: tensor<8x4xf32>, %w: tensor<6x4xf32>, %v: tensor<5x4xf32>, %g: tensor<8xf32>) -> (tensor<8x6xf32>, tensor<8x5xf32>, tensor<8xf32>) {
  %s = par.all_reduce sum over ["dp"] %g {par.started} : (tensor<8xf32>) -> tensor<8xf32>
  %0 = par.einsum "ik,jk->ij"(%x, %w) : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
  %r = par.wait %s : (tensor<8xf32>) -> tensor<8xf32>
  %1 = par.einsum "ik,jk->ij"(%x, %v) : (tensor<8x4xf32>, tensor<5x4xf32>) -> tensor<8x5xf32>
  return %0, %1, %r : tensor<8x6xf32>, tensor<8x5xf32>, tensor<8xf32>
}
