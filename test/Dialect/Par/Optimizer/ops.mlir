// RUN: par-opt %s --verify-roundtrip | par-opt | FileCheck %s

// CHECK-LABEL: func.func @adamw
func.func @adamw(%p: tensor<8x4xf32>, %g: tensor<8x4xf32>, %s: tensor<f32>) -> tensor<8x4xf32> {
  // CHECK: par.adamw %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} scalars %{{.*}} {decay} : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>
  %p1, %m1, %v1 = par.adamw %p, %g, %g, %g scalars %s, %s, %s, %s, %s, %s, %s, %s {decay}
      : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>,
         tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>)
  return %p1 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @sgd
func.func @sgd(%p: tensor<64xbf16>, %g: tensor<64xf32>, %s: tensor<f32>) -> tensor<64xbf16> {
  // CHECK: par.sgd %{{.*}}, %{{.*}} scalars %{{.*}}, %{{.*}}, %{{.*}} : (tensor<64xbf16>, tensor<64xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<64xbf16>
  %p1 = par.sgd %p, %g scalars %s, %s, %s : (tensor<64xbf16>, tensor<64xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<64xbf16>
  return %p1 : tensor<64xbf16>
}

// A master and, rounded, its parameter.
// CHECK-LABEL: func.func @masters
func.func @masters(%p: tensor<8xf32>, %g: tensor<8xbf16>, %s: tensor<f32>) -> (tensor<8xbf16>, tensor<8xbf16>) {
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} = par.adamw {{.*}} -> (tensor<8xf32>, tensor<8xbf16>, tensor<8xbf16>, tensor<8xbf16>)
  %p1, %m1, %v1, %q1 = par.adamw %p, %g, %g, %g scalars %s, %s, %s, %s, %s, %s, %s, %s
      : (tensor<8xf32>, tensor<8xbf16>, tensor<8xbf16>, tensor<8xbf16>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>,
         tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xbf16>, tensor<8xbf16>, tensor<8xbf16>)
  // CHECK: %{{.*}}, %{{.*}} = par.sgd {{.*}} -> (tensor<8xf32>, tensor<8xbf16>)
  %p2, %q2 = par.sgd %p, %g scalars %s, %s, %s : (tensor<8xf32>, tensor<8xbf16>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xbf16>)
  return %q1, %q2 : tensor<8xbf16>, tensor<8xbf16>
}
