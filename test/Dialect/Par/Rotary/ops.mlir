// RUN: par-opt %s --verify-roundtrip | par-opt | FileCheck %s

// CHECK-LABEL: func.func @rotary
func.func @rotary(%x: tensor<8x128x2x4xf32>, %p: tensor<128xi32>) -> tensor<8x128x2x4xf32> {
  // CHECK: par.rotary %{{.*}}, %{{.*}} {frequencies = array<f64: 1.000000e+00, 1.000000e-01>} : (tensor<8x128x2x4xf32>, tensor<128xi32>) -> tensor<8x128x2x4xf32>
  %y = par.rotary %x, %p {frequencies = array<f64: 1.0, 0.1>} : (tensor<8x128x2x4xf32>, tensor<128xi32>) -> tensor<8x128x2x4xf32>
  // CHECK: par.rotary {{.*}} {frequencies = array<f64: 1.000000e+00, 1.000000e-01>, transposed}
  %z = par.rotary %y, %p {frequencies = array<f64: 1.0, 0.1>, transposed} : (tensor<8x128x2x4xf32>, tensor<128xi32>) -> tensor<8x128x2x4xf32>
  return %z : tensor<8x128x2x4xf32>
}

// CHECK-LABEL: func.func @by_tables
func.func @by_tables(%x: tensor<8x128x2x4xf32>, %p: tensor<128xi32>) -> tensor<8x128x2x4xf32> {
  // CHECK: %[[COS:.*]], %[[SIN:.*]] = par.rotary_tables %{{.*}} {frequencies = array<f64: 1.000000e+00, 1.000000e-01>} : (tensor<128xi32>) -> (tensor<128x2xf32>, tensor<128x2xf32>)
  %c, %s = par.rotary_tables %p {frequencies = array<f64: 1.0, 0.1>} : (tensor<128xi32>) -> (tensor<128x2xf32>, tensor<128x2xf32>)
  // CHECK: par.rotate %{{.*}}, %[[COS]], %[[SIN]] : (tensor<8x128x2x4xf32>, tensor<128x2xf32>, tensor<128x2xf32>) -> tensor<8x128x2x4xf32>
  %y = par.rotate %x, %c, %s : (tensor<8x128x2x4xf32>, tensor<128x2xf32>, tensor<128x2xf32>) -> tensor<8x128x2x4xf32>
  // CHECK: par.rotate {{.*}} {transposed}
  %z = par.rotate %y, %c, %s {transposed} : (tensor<8x128x2x4xf32>, tensor<128x2xf32>, tensor<128x2xf32>) -> tensor<8x128x2x4xf32>
  return %z : tensor<8x128x2x4xf32>
}

// Part of a head, by positions of each entry of the batch, scaled.
// CHECK-LABEL: func.func @part
func.func @part(%x: tensor<8x128x2x6xf32>, %p: tensor<8x128xi32>) -> tensor<8x128x2x6xf32> {
  // CHECK: par.rotary %{{.*}}, %{{.*}} {factor = 1.250000e+00 : f64, frequencies = array<f64: 1.000000e+00, 1.000000e-01>} : (tensor<8x128x2x6xf32>, tensor<8x128xi32>) -> tensor<8x128x2x6xf32>
  %y = par.rotary %x, %p {frequencies = array<f64: 1.0, 0.1>, factor = 1.25} : (tensor<8x128x2x6xf32>, tensor<8x128xi32>) -> tensor<8x128x2x6xf32>
  return %y : tensor<8x128x2x6xf32>
}
