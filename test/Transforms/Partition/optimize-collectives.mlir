// RUN: par-opt %s -pass-pipeline="builtin.module(func.func(par-optimize-collectives))" | FileCheck %s
// RUN: par-opt %s -pass-pipeline="builtin.module(func.func(par-optimize-collectives{bucket-bytes=0}))" | FileCheck %s --check-prefix=APART

par.mesh @mesh <["x"=2]>

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

// Independent reductions of one group travel together; with bucket-bytes=0 they do not.
// CHECK-LABEL: func.func @bucket
// CHECK: par.all_reduce sum over ["x"] %arg0, %arg1
// CHECK-NOT: all_reduce
// APART-LABEL: func.func @bucket
// APART-COUNT-2: par.all_reduce
func.func @bucket(%a: tensor<8xf32>, %b: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %0 = par.all_reduce sum over ["x"] %a : (tensor<8xf32>) -> tensor<8xf32>
  %1 = par.all_reduce sum over ["x"] %b : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<8xf32>, tensor<4xf32>
}
