// RUN: par-opt %s --verify-roundtrip | par-opt | FileCheck %s

// Ids and rows of any shape.
// CHECK-LABEL: func.func @rows
func.func @rows(%ids: tensor<8x2xi32>, %id: tensor<i64>, %table: tensor<32x4x3xf32>, %numbers: tensor<32xbf16>, %o: tensor<i32>) {
  // CHECK: par.take_rows %{{.*}}, %{{.*}} : (tensor<8x2xi32>, tensor<32x4x3xf32>) -> tensor<8x2x4x3xf32>
  %0 = par.take_rows %ids, %table : (tensor<8x2xi32>, tensor<32x4x3xf32>) -> tensor<8x2x4x3xf32>
  // CHECK: par.take_rows %{{.*}}, %{{.*}} offset %{{.*}} : (tensor<i64>, tensor<32xbf16>, tensor<i32>) -> tensor<bf16>
  %1 = par.take_rows %id, %numbers offset %o : (tensor<i64>, tensor<32xbf16>, tensor<i32>) -> tensor<bf16>
  // CHECK: par.add_rows %{{.*}}, %{{.*}} : (tensor<8x2xi32>, tensor<8x2x4x3xf32>) -> tensor<32x4x3xf32>
  %2 = par.add_rows %ids, %0 : (tensor<8x2xi32>, tensor<8x2x4x3xf32>) -> tensor<32x4x3xf32>
  // CHECK: par.add_rows %{{.*}}, %{{.*}} offset %{{.*}} : (tensor<i64>, tensor<bf16>, tensor<i32>) -> tensor<32xbf16>
  %3 = par.add_rows %id, %1 offset %o : (tensor<i64>, tensor<bf16>, tensor<i32>) -> tensor<32xbf16>
  return
}
