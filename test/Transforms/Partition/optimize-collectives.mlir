// RUN: par-opt %s -pass-pipeline="builtin.module(func.func(par-optimize-collectives))" | FileCheck %s

par.mesh @mesh <["x"=2, "y"=2]>

// CHECK-LABEL: func.func @slice_of_sum
// CHECK: par.reduce_scatter over ["x"] dim 0
// CHECK-NOT: all_reduce
func.func @slice_of_sum(%v: tensor<8xf32>) -> tensor<4xf32> {
  %r = par.all_reduce sum over ["x"] %v : (tensor<8xf32>) -> tensor<8xf32>
  %s = par.all_slice over ["x"] dim 0 %r : tensor<8xf32> -> tensor<4xf32>
  return %s : tensor<4xf32>
}

// CHECK-LABEL: func.func @gather_of_scatter
// CHECK: par.all_reduce sum over ["x"]
// CHECK-NOT: all_gather
func.func @gather_of_scatter(%v: tensor<8xf32>) -> tensor<8xf32> {
  %s = par.reduce_scatter over ["x"] dim 0 %v : (tensor<8xf32>) -> tensor<4xf32>
  %g = par.all_gather over ["x"] dim 0 %s : (tensor<4xf32>) -> tensor<8xf32>
  return %g : tensor<8xf32>
}

// The same collective of the same value is one.
// CHECK-LABEL: func.func @shared
// CHECK-COUNT-1: par.all_gather
// CHECK-NOT: all_gather
func.func @shared(%v: tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = par.all_gather over ["x"] dim 0 %v : (tensor<4xf32>) -> tensor<8xf32>
  %1 = par.all_gather over ["x"] dim 0 %v : (tensor<4xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// Other axes or another reduction are another collective.
// CHECK-LABEL: func.func @apart
// CHECK: %[[SUM:.*]] = par.all_reduce sum over ["x"] %arg0
// CHECK: %[[MAX:.*]] = par.all_reduce max over ["x"] %arg0
// CHECK: %[[OTHER:.*]] = par.all_reduce sum over ["y"] %arg0
// CHECK: return %[[SUM]], %[[MAX]], %[[OTHER]]
func.func @apart(%v: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = par.all_reduce sum over ["x"] %v : (tensor<8xf32>) -> tensor<8xf32>
  %1 = par.all_reduce max over ["x"] %v : (tensor<8xf32>) -> tensor<8xf32>
  %2 = par.all_reduce sum over ["y"] %v : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// Scattered along one dimension and gathered along another, or over other axes, is no reduction to all; nor is a slice over other axes a piece of it.
// CHECK-LABEL: func.func @elsewhere
// CHECK: par.reduce_scatter over ["x"] dim 0
// CHECK: par.all_gather over ["x"] dim 1
// CHECK: par.reduce_scatter over ["x"] dim 0
// CHECK: par.all_gather over ["y"] dim 0
// CHECK: par.all_reduce sum over ["x"]
// CHECK: par.all_slice over ["y"] dim 0
func.func @elsewhere(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %c: tensor<4x4xf32>) -> (tensor<2x8xf32>, tensor<4x4xf32>, tensor<2x4xf32>) {
  %0 = par.reduce_scatter over ["x"] dim 0 %a : (tensor<4x4xf32>) -> tensor<2x4xf32>
  %1 = par.all_gather over ["x"] dim 1 %0 : (tensor<2x4xf32>) -> tensor<2x8xf32>
  %2 = par.reduce_scatter over ["x"] dim 0 %b : (tensor<4x4xf32>) -> tensor<2x4xf32>
  %3 = par.all_gather over ["y"] dim 0 %2 : (tensor<2x4xf32>) -> tensor<4x4xf32>
  %4 = par.all_reduce sum over ["x"] %c : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = par.all_slice over ["y"] dim 0 %4 : tensor<4x4xf32> -> tensor<2x4xf32>
  return %1, %3, %5 : tensor<2x8xf32>, tensor<4x4xf32>, tensor<2x4xf32>
}
