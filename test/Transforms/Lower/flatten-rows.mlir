// RUN: par-opt %s -pass-pipeline="builtin.module(func.func(par-flatten-rows))" | FileCheck %s

// Rows of several dimensions become vectors between views.
// CHECK-LABEL: func.func @matrices
// CHECK: %[[ROWS:.*]] = par.reshape %arg1 : tensor<8x4x16xf32> -> tensor<8x64xf32>
// CHECK: %[[SUM:.*]] = par.add_rows %arg0, %[[ROWS]] offset %arg2 : (tensor<8xi32>, tensor<8x64xf32>, tensor<i32>) -> tensor<32x64xf32>
// CHECK: %[[TABLE:.*]] = par.reshape %[[SUM]] : tensor<32x64xf32> -> tensor<32x4x16xf32>
// CHECK: return %[[TABLE]]
func.func @matrices(%ids: tensor<8xi32>, %x: tensor<8x4x16xf32>, %o: tensor<i32>) -> tensor<32x4x16xf32> {
  %0 = par.add_rows %ids, %x offset %o : (tensor<8xi32>, tensor<8x4x16xf32>, tensor<i32>) -> tensor<32x4x16xf32>
  return %0 : tensor<32x4x16xf32>
}

// So do numbers; an id alone becomes a vector of one, its row one of its rows.
// CHECK-LABEL: func.func @numbers
// CHECK: par.add_rows %arg0, %{{.*}} : (tensor<8xi32>, tensor<8x1xf32>) -> tensor<32x1xf32>
// CHECK: par.add_rows %{{.*}}, %{{.*}} : (tensor<1xi32>, tensor<1x16xf32>) -> tensor<32x16xf32>
func.func @numbers(%ids: tensor<8xi32>, %x: tensor<8xf32>, %id: tensor<i32>, %y: tensor<16xf32>) -> (tensor<32xf32>, tensor<32x16xf32>) {
  %0 = par.add_rows %ids, %x : (tensor<8xi32>, tensor<8xf32>) -> tensor<32xf32>
  %1 = par.add_rows %id, %y : (tensor<i32>, tensor<16xf32>) -> tensor<32x16xf32>
  return %0, %1 : tensor<32xf32>, tensor<32x16xf32>
}

// Vectors are left as they are, those of tables with their name.
// CHECK-LABEL: func.func @vectors
// CHECK-NOT: par.reshape
// CHECK: par.embedding_backward
// CHECK: par.add_rows
// CHECK-NOT: par.reshape
// CHECK: return
func.func @vectors(%ids: tensor<2x4xi32>, %x: tensor<2x4x16xf32>) -> (tensor<32x16xf32>, tensor<32x16xf32>) {
  %0 = par.embedding_backward %ids, %x : (tensor<2x4xi32>, tensor<2x4x16xf32>) -> tensor<32x16xf32>
  %1 = par.add_rows %ids, %x : (tensor<2x4xi32>, tensor<2x4x16xf32>) -> tensor<32x16xf32>
  return %0, %1 : tensor<32x16xf32>, tensor<32x16xf32>
}
