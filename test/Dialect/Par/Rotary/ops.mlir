// RUN: par-opt %s --verify-roundtrip | par-opt | FileCheck %s

// CHECK-LABEL: func.func @rotary
func.func @rotary(%x: tensor<8x128x2x4xf32>, %p: tensor<128xi32>) -> tensor<8x128x2x4xf32> {
  // CHECK: par.rotary %{{.*}}, %{{.*}} {frequencies = array<f64: 1.000000e+00, 1.000000e-01>} : (tensor<8x128x2x4xf32>, tensor<128xi32>) -> tensor<8x128x2x4xf32>
  %y = par.rotary %x, %p {frequencies = array<f64: 1.0, 0.1>} : (tensor<8x128x2x4xf32>, tensor<128xi32>) -> tensor<8x128x2x4xf32>
  // CHECK: par.rotary {{.*}} {frequencies = array<f64: 1.000000e+00, 1.000000e-01>, transposed}
  %z = par.rotary %y, %p {frequencies = array<f64: 1.0, 0.1>, transposed} : (tensor<8x128x2x4xf32>, tensor<128xi32>) -> tensor<8x128x2x4xf32>
  return %z : tensor<8x128x2x4xf32>
}
