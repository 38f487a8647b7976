// RUN: par-opt %s -pass-pipeline="builtin.module(func.func(par-normalize-collectives))" | FileCheck %s

par.mesh @mesh <["x"=2]>

// Blocks along another dimension are moved to the front and back.
// CHECK-LABEL: func.func @gather
// CHECK: %[[T:.*]] = par.transpose %arg0 [1, 0]
// CHECK: %[[G:.*]] = par.all_gather over ["x"] dim 0 %[[T]] : (tensor<2x4xf32>) -> tensor<4x4xf32>
// CHECK: par.transpose %[[G]] [1, 0]
func.func @gather(%v: tensor<4x2xf32>) -> tensor<4x4xf32> {
  %g = par.all_gather over ["x"] dim 1 %v : (tensor<4x2xf32>) -> tensor<4x4xf32>
  return %g : tensor<4x4xf32>
}
