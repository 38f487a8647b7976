// RUN: par-opt %s --verify-roundtrip | par-opt | FileCheck %s

// CHECK-LABEL: func.func @rms_norm
func.func @rms_norm(%x: tensor<8x16x64xf32>, %w: tensor<64xf32>, %dy: tensor<8x16x64xf32>)
    -> (tensor<8x16x64xf32>, tensor<8x16x64xf32>, tensor<64xf32>) {
  // CHECK: %[[Y:.*]], %[[RSTD:.*]] = par.rms_norm %{{.*}}, %{{.*}} {eps = 1.000000e-05 : f64} : (tensor<8x16x64xf32>, tensor<64xf32>) -> (tensor<8x16x64xf32>, tensor<8x16xf32>)
  %y, %rstd = par.rms_norm %x, %w {eps = 1.0e-5} : (tensor<8x16x64xf32>, tensor<64xf32>) -> (tensor<8x16x64xf32>, tensor<8x16xf32>)
  // CHECK: par.rms_norm_backward %{{.*}}, %{{.*}}, %{{.*}}, %[[RSTD]] : (tensor<8x16x64xf32>, tensor<8x16x64xf32>, tensor<64xf32>, tensor<8x16xf32>) -> (tensor<8x16x64xf32>, tensor<64xf32>)
  %dx, %dw = par.rms_norm_backward %dy, %x, %w, %rstd : (tensor<8x16x64xf32>, tensor<8x16x64xf32>, tensor<64xf32>, tensor<8x16xf32>) -> (tensor<8x16x64xf32>, tensor<64xf32>)
  return %y, %dx, %dw : tensor<8x16x64xf32>, tensor<8x16x64xf32>, tensor<64xf32>
}

// All heads together, by a weight less one.
// CHECK-LABEL: func.func @heads
func.func @heads(%x: tensor<8x16x2x4xf32>, %w: tensor<2x4xf32>) -> tensor<8x16x2x4xf32> {
  // CHECK: par.rms_norm %{{.*}}, %{{.*}} {count = 8 : i64, eps = 1.000000e-05 : f64, offset = 1.000000e+00 : f64} : (tensor<8x16x2x4xf32>, tensor<2x4xf32>) -> (tensor<8x16x2x4xf32>, tensor<8x16xf32>)
  %y, %rstd = par.rms_norm %x, %w {eps = 1.0e-5, offset = 1.0, count = 8} : (tensor<8x16x2x4xf32>, tensor<2x4xf32>) -> (tensor<8x16x2x4xf32>, tensor<8x16xf32>)
  return %y : tensor<8x16x2x4xf32>
}

// Values in bf16, statistics in f32.
// CHECK-LABEL: func.func @layer_norm
func.func @layer_norm(%x: tensor<8x64xbf16>, %w: tensor<64xbf16>, %b: tensor<64xbf16>, %dy: tensor<8x64xbf16>)
    -> (tensor<8x64xbf16>, tensor<8x64xbf16>, tensor<64xbf16>, tensor<64xbf16>) {
  // CHECK: %[[Y:.*]], %[[MEAN:.*]], %[[RSTD:.*]] = par.layer_norm %{{.*}}, %{{.*}}, %{{.*}} {eps = 2.500000e-01 : f64}
  %y, %mean, %rstd = par.layer_norm %x, %w, %b {eps = 0.25} : (tensor<8x64xbf16>, tensor<64xbf16>, tensor<64xbf16>) -> (tensor<8x64xbf16>, tensor<8xf32>, tensor<8xf32>)
  // CHECK: par.layer_norm_backward %{{.*}}, %{{.*}}, %{{.*}}, %[[MEAN]], %[[RSTD]] :
  %dx, %dw, %db = par.layer_norm_backward %dy, %x, %w, %mean, %rstd : (tensor<8x64xbf16>, tensor<8x64xbf16>, tensor<64xbf16>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8x64xbf16>, tensor<64xbf16>, tensor<64xbf16>)
  return %y, %dx, %dw, %db : tensor<8x64xbf16>, tensor<8x64xbf16>, tensor<64xbf16>, tensor<64xbf16>
}

// CHECK-LABEL: func.func @standardize
func.func @standardize(%x: tensor<8x64xf32>, %dy: tensor<8x64xf32>) -> (tensor<8x64xf32>, tensor<8x64xf32>) {
  // CHECK: %[[Y:.*]], %[[MEAN:.*]], %[[RSTD:.*]] = par.standardize %{{.*}} {eps = 2.500000e-01 : f64} : (tensor<8x64xf32>) -> (tensor<8x64xf32>, tensor<8xf32>, tensor<8xf32>)
  %y, %mean, %rstd = par.standardize %x {eps = 0.25} : (tensor<8x64xf32>) -> (tensor<8x64xf32>, tensor<8xf32>, tensor<8xf32>)
  // CHECK: par.standardize_backward %{{.*}}, %{{.*}}, %[[MEAN]], %[[RSTD]] :
  %dx = par.standardize_backward %dy, %x, %mean, %rstd : (tensor<8x64xf32>, tensor<8x64xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x64xf32>
  return %y, %dx : tensor<8x64xf32>, tensor<8x64xf32>
}
