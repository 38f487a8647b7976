// RUN: par-opt %s --verify-roundtrip | par-opt | FileCheck %s

// CHECK-LABEL: func.func @embedding
func.func @embedding(%ids: tensor<8x16xi32>, %table: tensor<32x4xf32>, %o: tensor<i32>) {
  // CHECK: par.embedding %{{.*}}, %{{.*}} : (tensor<8x16xi32>, tensor<32x4xf32>) -> tensor<8x16x4xf32>
  %0 = par.embedding %ids, %table : (tensor<8x16xi32>, tensor<32x4xf32>) -> tensor<8x16x4xf32>
  // CHECK: par.embedding %{{.*}}, %{{.*}} offset %{{.*}} : (tensor<8x16xi32>, tensor<32x4xf32>, tensor<i32>) -> tensor<8x16x4xf32>
  %1 = par.embedding %ids, %table offset %o : (tensor<8x16xi32>, tensor<32x4xf32>, tensor<i32>) -> tensor<8x16x4xf32>
  // CHECK: par.embedding %{{.*}}, %{{.*}} {padding = 7 : i64} :
  %4 = par.embedding %ids, %table {padding = 7} : (tensor<8x16xi32>, tensor<32x4xf32>) -> tensor<8x16x4xf32>
  // CHECK: par.embedding_backward %{{.*}}, %{{.*}} : (tensor<8x16xi32>, tensor<8x16x4xf32>) -> tensor<32x4xf32>
  %2 = par.embedding_backward %ids, %0 : (tensor<8x16xi32>, tensor<8x16x4xf32>) -> tensor<32x4xf32>
  // CHECK: par.embedding_backward %{{.*}}, %{{.*}} offset %{{.*}} : (tensor<8x16xi32>, tensor<8x16x4xf32>, tensor<i32>) -> tensor<32x4xf32>
  %3 = par.embedding_backward %ids, %0 offset %o : (tensor<8x16xi32>, tensor<8x16x4xf32>, tensor<i32>) -> tensor<32x4xf32>
  return
}
