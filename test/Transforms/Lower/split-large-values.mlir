// RUN: par-opt %s -pass-pipeline="builtin.module(func.func(par-split-large-values{limit=256 rows=2}))" | FileCheck %s

// Logits and their gradient in two parts: operands sliced, the input's gradient joined, the weight's accumulated part by part, the loss joined.
// CHECK-LABEL: func.func @head(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x4xf32>, %[[W:[a-z0-9]+]]: tensor<32x4xf32>, %[[T:[a-z0-9]+]]: tensor<4xi32>
// CHECK: %[[BETA:.*]] = arith.mulf
// CHECK: %[[X0:.*]] = par.slice %[[X]] from [0, 0]
// CHECK: %[[L0:.*]] = par.einsum "be,ve->bv"(%[[X0]], %[[W]]) {{.*}} -> tensor<2x32xf32>
// CHECK: %[[LOSS0:.*]], %{{.*}} = par.cross_entropy %[[L0]]
// CHECK: %[[D0:.*]] = par.cross_entropy_backward {{.*}} -> tensor<2x32xf32>
// CHECK: %[[DX0:.*]] = par.einsum "bv,ve->be"(%[[D0]], %[[W]])
// CHECK: %[[DW0:.*]] = par.einsum "bv,be->ve"(%[[D0]], %[[X0]])
// CHECK: %[[ACC0:.*]] = arith.addf %[[BETA]], %[[DW0]]
// CHECK: %[[X1:.*]] = par.slice %[[X]] from [2, 0]
// CHECK: %[[LOSS1:.*]], %{{.*}} = par.cross_entropy
// CHECK: %[[DX1:.*]] = par.einsum "bv,ve->be"
// CHECK: %[[DW1:.*]] = par.einsum "bv,be->ve"
// CHECK: %[[ACC1:.*]] = arith.addf %[[ACC0]], %[[DW1]]
// CHECK-NOT: par.einsum
// CHECK-DAG: %[[DX:.*]] = par.concat %[[DX0]], %[[DX1]] dim 0
// CHECK-DAG: %[[LOSS:.*]] = par.concat %[[LOSS0]], %[[LOSS1]] dim 0
// CHECK-DAG: %[[SUM:.*]] = par.reduce sum %[[LOSS]]
// CHECK: return %[[DX]], %[[ACC1]], %[[SUM]]
func.func @head(%x: tensor<4x4xf32>, %w: tensor<32x4xf32>, %t: tensor<4xi32>, %seed: tensor<f32>, %beta: tensor<f32>, %acc: tensor<32x4xf32>)
    -> (tensor<4x4xf32>, tensor<32x4xf32>, tensor<f32>) {
  %l = par.einsum "be,ve->bv"(%x, %w) : (tensor<4x4xf32>, tensor<32x4xf32>) -> tensor<4x32xf32>
  %loss, %lse = par.cross_entropy %l, %t {classes = 32 : i64} : (tensor<4x32xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>)
  %sum = par.reduce sum %loss dims [0] : tensor<4xf32> -> tensor<f32>
  %s = par.expand %seed dims [0] : tensor<f32> -> tensor<4xf32>
  %d = par.cross_entropy_backward %s, %l, %t, %lse {classes = 32 : i64} : (tensor<4xf32>, tensor<4x32xf32>, tensor<4xi32>, tensor<4xf32>) -> tensor<4x32xf32>
  %dx = par.einsum "bv,ve->be"(%d, %w) : (tensor<4x32xf32>, tensor<32x4xf32>) -> tensor<4x4xf32>
  %dw = par.einsum "bv,be->ve"(%d, %x) : (tensor<4x32xf32>, tensor<4x4xf32>) -> tensor<32x4xf32>
  %b = par.expand %beta dims [0, 1] : tensor<f32> -> tensor<32x4xf32>
  %m = arith.mulf %b, %acc : tensor<32x4xf32>
  %a = arith.addf %m, %dw : tensor<32x4xf32>
  return %dx, %a, %sum : tensor<4x4xf32>, tensor<32x4xf32>, tensor<f32>
}

// An operand that is larger than the limit itself exists whole, and so may its gradient.
// CHECK-LABEL: func.func @large_operand
// CHECK: %[[D0:.*]] = par.einsum "be,ve->bv"{{.*}} -> tensor<2x128xf32>
// CHECK: %[[DX0:.*]] = par.einsum "bv,ve->be"
// CHECK: %[[DX1:.*]] = par.einsum "bv,ve->be"
// CHECK: %[[DX:.*]] = par.concat %[[DX0]], %[[DX1]] dim 0
// CHECK: return %[[DX]]
func.func @large_operand(%x: tensor<4x20xf32>, %w: tensor<128x20xf32>) -> tensor<4x20xf32> {
  %l = par.einsum "be,ve->bv"(%x, %w) : (tensor<4x20xf32>, tensor<128x20xf32>) -> tensor<4x128xf32>
  %t = math.tanh %l : tensor<4x128xf32>
  %d = par.einsum "bv,ve->be"(%t, %w) : (tensor<4x128xf32>, tensor<128x20xf32>) -> tensor<4x20xf32>
  return %d : tensor<4x20xf32>
}

// Along two dimensions, one after the other: the weight's gradient is one chain of sums, in the order of the parts.
// CHECK-LABEL: func.func @two_dimensions
// CHECK: %[[W0:.*]] = par.einsum "bsv,bse->ve"
// CHECK: %[[W1:.*]] = par.einsum "bsv,bse->ve"
// CHECK-NEXT: %[[S1:.*]] = arith.addf %[[W0]], %[[W1]]
// CHECK: %[[W2:.*]] = par.einsum "bsv,bse->ve"
// CHECK-NEXT: %[[S2:.*]] = arith.addf %[[S1]], %[[W2]]
// CHECK: %[[W3:.*]] = par.einsum "bsv,bse->ve"
// CHECK-NEXT: %[[S3:.*]] = arith.addf %[[S2]], %[[W3]]
// CHECK: return %[[S3]]
func.func @two_dimensions(%x: tensor<2x4x2xf32>, %w: tensor<32x2xf32>) -> tensor<32x2xf32> {
  %l = par.einsum "bse,ve->bsv"(%x, %w) : (tensor<2x4x2xf32>, tensor<32x2xf32>) -> tensor<2x4x32xf32>
  %t = math.tanh %l : tensor<2x4x32xf32>
  %d = par.einsum "bsv,bse->ve"(%t, %x) : (tensor<2x4x32xf32>, tensor<2x4x2xf32>) -> tensor<32x2xf32>
  return %d : tensor<32x2xf32>
}

// What is returned has to exist; what is dropped out is numbered by place; two rows are the least.
// CHECK-LABEL: func.func @returned
// CHECK-NOT: par.slice
// CHECK-LABEL: func.func @numbered
// CHECK-NOT: par.slice
// CHECK-LABEL: func.func @few_rows
// CHECK-NOT: par.slice
func.func @returned(%x: tensor<4x4xf32>, %w: tensor<32x4xf32>) -> tensor<4x32xf32> {
  %l = par.einsum "be,ve->bv"(%x, %w) : (tensor<4x4xf32>, tensor<32x4xf32>) -> tensor<4x32xf32>
  %t = math.tanh %l : tensor<4x32xf32>
  return %t : tensor<4x32xf32>
}
func.func @numbered(%x: tensor<4x4xf32>, %w: tensor<32x4xf32>, %key: tensor<2xi32>, %row: tensor<i32>, %at: tensor<2xi32>) -> tensor<4xf32> {
  %l = par.einsum "be,ve->bv"(%x, %w) : (tensor<4x4xf32>, tensor<32x4xf32>) -> tensor<4x32xf32>
  %site = arith.constant dense<1> : tensor<i32>
  %d = par.dropout %l key %key site %site row %row offsets %at {p = 0.5 : f64, strides = array<i64: 0, 1>}
      : (tensor<4x32xf32>, tensor<2xi32>, tensor<i32>, tensor<i32>, tensor<2xi32>) -> tensor<4x32xf32>
  %s = par.reduce sum %d dims [1] : tensor<4x32xf32> -> tensor<4xf32>
  return %s : tensor<4xf32>
}
func.func @few_rows(%x: tensor<2x4xf32>, %w: tensor<64x4xf32>) -> tensor<2xf32> {
  %l = par.einsum "be,ve->bv"(%x, %w) : (tensor<2x4xf32>, tensor<64x4xf32>) -> tensor<2x64xf32>
  %s = par.reduce sum %l dims [1] : tensor<2x64xf32> -> tensor<2xf32>
  return %s : tensor<2xf32>
}
