// RUN: par-opt %s -pass-pipeline='builtin.module(func.func(par-form-kernels))' | FileCheck %s

// A product that runs beside a collective is not made with the sum of the two, which would wait: with what was there before it is.
par.mesh @mesh <["dp"=2]>
// CHECK-LABEL: func.func @beside
// CHECK: par.all_reduce {{.*}} {par.started}
// CHECK-NEXT: %[[P:.*]] = par.einsum "ik,kj->ij"(%arg0, %arg0) :
// CHECK-NEXT: %[[W:.*]] = par.wait
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[W]], %[[P]] {par.kernel =
// CHECK-NEXT: par.einsum {{.*}}(%[[S]], %arg0) {par.kernel = [[SUM:[0-9]+]] :
// CHECK-NEXT: arith.addf {{.*}} {par.kernel = [[SUM]] :
func.func @beside(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {par.local} {
  %s = par.all_reduce sum over ["dp"] %x {par.started} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %p = par.einsum "ik,kj->ij"(%x, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = par.wait %s : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = arith.addf %r, %p : tensor<4x4xf32>
  %q = par.einsum "ik,kj->ij"(%y, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %z = arith.addf %r, %q : tensor<4x4xf32>
  return %z : tensor<4x4xf32>
}
