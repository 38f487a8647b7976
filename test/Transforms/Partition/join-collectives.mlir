// RUN: par-opt %s -pass-pipeline="builtin.module(func.func(par-join-collectives{bucket-bytes=64}))" | FileCheck %s
// RUN: par-opt %s -pass-pipeline="builtin.module(func.func(par-join-collectives{bucket-bytes=0}))" | FileCheck %s --check-prefix=APART
// RUN: not par-opt %s -pass-pipeline="builtin.module(func.func(par-join-collectives{bucket-bytes=-1}))" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: error: par-join-collectives: bucket-bytes is -1, expected at least 0

par.mesh @mesh <["x"=2, "y"=2]>

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

// A bucket holds 64 bytes: what does not fit begins another, and what is smaller still joins the first. Each says the first and the last cause.
// CHECK-LABEL: func.func @limit
// CHECK: %[[C:.*]] = par.all_reduce sum over ["x"] %arg2 {par.cause = "c"}
// CHECK-NEXT: %[[A:.*]]:3 = par.all_reduce sum over ["x"] %arg0, %arg1, %arg3 {par.cause = "a; 1 more; d"}
// CHECK-NEXT: return %[[A]]#0, %[[A]]#1, %[[C]], %[[A]]#2
func.func @limit(%a: tensor<8xf32>, %b: tensor<4xf32>, %c: tensor<6xf32>, %d: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>, tensor<6xf32>, tensor<4xf32>) {
  %0 = par.all_reduce sum over ["x"] %a {par.cause = "a"} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = par.all_reduce sum over ["x"] %b {par.cause = "b"} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = par.all_reduce sum over ["x"] %c {par.cause = "c"} : (tensor<6xf32>) -> tensor<6xf32>
  %3 = par.all_reduce sum over ["x"] %d {par.cause = "d"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2, %3 : tensor<8xf32>, tensor<4xf32>, tensor<6xf32>, tensor<4xf32>
}

// What is reduced of a reduction does not join it, nor does what stands behind a use.
// CHECK-LABEL: func.func @chain
// CHECK-COUNT-2: par.all_reduce sum over ["x"] %{{[a-z0-9]+}} :
// CHECK-NOT: all_reduce
func.func @chain(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = par.all_reduce sum over ["x"] %a : (tensor<8xf32>) -> tensor<8xf32>
  %1 = par.all_reduce sum over ["x"] %0 : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// Parameters of one layer are gathered together, those of the next not before the first one runs; a dimension that is not outermost goes alone.
// CHECK-LABEL: func.func @layers
// CHECK: %[[W:.*]]:2 = par.all_gather over ["x"] dim 0 %arg0, %arg1
// CHECK-NEXT: %[[T:.*]] = par.all_gather over ["x"] dim 1 %arg2
// CHECK-NEXT: %[[A:.*]] = arith.addf %[[W]]#0, %[[W]]#1
// CHECK: par.all_gather over ["x"] dim 0
// CHECK-NOT: all_gather
func.func @layers(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<2x2xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<2x4xf32>) {
  %0 = par.all_gather over ["x"] dim 0 %a : (tensor<4xf32>) -> tensor<8xf32>
  %1 = par.all_gather over ["x"] dim 0 %b : (tensor<4xf32>) -> tensor<8xf32>
  %2 = par.all_gather over ["x"] dim 1 %c : (tensor<2x2xf32>) -> tensor<2x4xf32>
  %3 = arith.addf %0, %1 : tensor<8xf32>
  %4 = arith.negf %a : tensor<4xf32>
  %5 = par.all_gather over ["x"] dim 0 %4 : (tensor<4xf32>) -> tensor<8xf32>
  return %3, %5, %2 : tensor<8xf32>, tensor<8xf32>, tensor<2x4xf32>
}

// The first use of any of them ends a bucket, also where what joined last is used later.
// CHECK-LABEL: func.func @uses
// CHECK: %[[AB:.*]]:2 = par.all_reduce sum over ["x"] %arg0, %arg1
// CHECK-NEXT: %[[N:.*]] = arith.negf %[[AB]]#0
// CHECK-NEXT: %[[C:.*]] = par.all_reduce sum over ["x"] %arg2
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[AB]]#1, %[[C]]
func.func @uses(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = par.all_reduce sum over ["x"] %a : (tensor<4xf32>) -> tensor<4xf32>
  %1 = par.all_reduce sum over ["x"] %b : (tensor<4xf32>) -> tensor<4xf32>
  %2 = arith.negf %0 : tensor<4xf32>
  %3 = par.all_reduce sum over ["x"] %c : (tensor<4xf32>) -> tensor<4xf32>
  %4 = arith.addf %1, %3 : tensor<4xf32>
  return %2, %4 : tensor<4xf32>, tensor<4xf32>
}
