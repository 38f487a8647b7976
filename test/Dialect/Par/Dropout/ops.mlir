// RUN: par-opt %s --verify-roundtrip | par-opt | FileCheck %s

// CHECK-LABEL: func.func @dropout
func.func @dropout(%x: tensor<8x4xf32>, %key: tensor<2xi32>, %site: tensor<i32>, %o: tensor<2xi32>) {
  // CHECK: par.dropout %{{.*}} key %{{.*}} site %{{.*}} row %{{.*}} offsets %{{.*}} {p = 1.000000e-01 : f64, strides = array<i64: 0, 1>} :
  %0 = par.dropout %x key %key site %site row %site offsets %o {p = 0.1, strides = array<i64: 0, 1>}
      : (tensor<8x4xf32>, tensor<2xi32>, tensor<i32>, tensor<i32>, tensor<2xi32>) -> tensor<8x4xf32>
  return
}
