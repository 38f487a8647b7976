// RUN: par-opt %s --verify-roundtrip | par-opt | FileCheck %s

// CHECK-LABEL: func.func @shape
func.func @shape(%x: tensor<8x6x4xf32>, %i: tensor<8x6xi32>, %s: tensor<f32>) {
  // CHECK: par.reduce sum %{{.*}} dims [0, 1] : tensor<8x6x4xf32> -> tensor<4xf32>
  %0 = par.reduce sum %x dims [0, 1] : tensor<8x6x4xf32> -> tensor<4xf32>
  // CHECK: par.reduce max %{{.*}} dims [2] : tensor<8x6x4xf32> -> tensor<8x6xf32>
  %1 = par.reduce max %x dims [2] : tensor<8x6x4xf32> -> tensor<8x6xf32>
  // CHECK: par.reduce min %{{.*}} dims [0, 1] : tensor<8x6xi32> -> tensor<i32>
  %2 = par.reduce min %i dims [0, 1] : tensor<8x6xi32> -> tensor<i32>
  // CHECK: par.expand %{{.*}} dims [0, 1] : tensor<f32> -> tensor<3x2xf32>
  %3 = par.expand %s dims [0, 1] : tensor<f32> -> tensor<3x2xf32>
  // CHECK: par.reshape %{{.*}} : tensor<8x6x4xf32> -> tensor<48x4xf32>
  %4 = par.reshape %x : tensor<8x6x4xf32> -> tensor<48x4xf32>
  // CHECK: par.transpose %{{.*}} [2, 0, 1] : tensor<8x6x4xf32> -> tensor<4x8x6xf32>
  %5 = par.transpose %x [2, 0, 1] : tensor<8x6x4xf32> -> tensor<4x8x6xf32>
  // CHECK: par.slice %{{.*}} from [0, 1, 2] : tensor<8x6x4xf32> -> tensor<8x3x2xf32>
  %6 = par.slice %x from [0, 1, 2] : tensor<8x6x4xf32> -> tensor<8x3x2xf32>
  // CHECK: par.pad %{{.*}} at [0, 1, 2] : tensor<8x3x2xf32> -> tensor<8x6x4xf32>
  %7 = par.pad %6 at [0, 1, 2] : tensor<8x3x2xf32> -> tensor<8x6x4xf32>
  // CHECK: par.concat %{{.*}}, %{{.*}} dim 1 : (tensor<8x6x4xf32>, tensor<8x6x4xf32>) -> tensor<8x12x4xf32>
  %8 = par.concat %x, %7 dim 1 : (tensor<8x6x4xf32>, tensor<8x6x4xf32>) -> tensor<8x12x4xf32>
  // CHECK: par.iota dim 1 : tensor<2x3xi64>
  %9 = par.iota dim 1 : tensor<2x3xi64>
  return
}
