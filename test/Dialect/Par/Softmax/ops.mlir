// RUN: par-opt %s --verify-roundtrip | par-opt | FileCheck %s

// CHECK-LABEL: func.func @softmax
func.func @softmax(%x: tensor<8x128xf32>, %dy: tensor<8x128xf32>) -> tensor<8x128xf32> {
  // CHECK: %[[Y:.*]] = par.softmax %{{.*}} : tensor<8x128xf32>
  %y = par.softmax %x : tensor<8x128xf32>
  // CHECK: par.softmax_backward %{{.*}}, %[[Y]] : tensor<8x128xf32>
  %dx = par.softmax_backward %dy, %y : tensor<8x128xf32>
  return %dx : tensor<8x128xf32>
}
