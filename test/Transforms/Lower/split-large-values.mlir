// RUN: par-opt %s -pass-pipeline="builtin.module(par-split-large-values{limit=256 rows=2})" | FileCheck %s

// Logits and their gradient in two parts, by one function: rows are cut, the input's gradient and the loss are made of parts. The weight's gradient is handed on from part to part; the accumulator is scaled by the
// first of them alone, which hands on 1.
// CHECK-LABEL: func.func @head(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x4xf32>, %[[W:[a-z0-9]+]]: tensor<32x4xf32>, %[[T:[a-z0-9]+]]: tensor<4xi32>, %[[SEED:[a-z0-9]+]]: tensor<f32>, %[[BETA:[a-z0-9]+]]: tensor<f32>, %[[ACC:[a-z0-9]+]]: tensor<32x4xf32>
// CHECK-NEXT: %[[P:.*]]:4 = par.call @head.part(%[[X]], %[[W]], %[[T]], %[[SEED]], %[[ACC]], %[[BETA]]) {parts = 2 : i64}
// CHECK-NEXT: %[[SUM:.*]] = par.reduce sum %[[P]]#0
// CHECK-NEXT: return %[[P]]#1, %[[P]]#2, %[[SUM]]
// CHECK: func.func private @head.part(%[[X:[a-z0-9]+]]: tensor<2x4xf32>, %[[W:[a-z0-9]+]]: tensor<32x4xf32>, %[[T:[a-z0-9]+]]: tensor<2xi32>, %[[SEED:[a-z0-9]+]]: tensor<f32>, %[[ACC:[a-z0-9]+]]: tensor<32x4xf32>, %[[BETA:[a-z0-9]+]]: tensor<f32>)
// CHECK-SAME: -> (tensor<2xf32>, tensor<2x4xf32>, tensor<32x4xf32> {par.place = #par.place<alias 4>}, tensor<f32> {par.place = #par.place<alias 5>})
// CHECK: %[[S:.*]] = par.expand %[[SEED]] dims [0] : tensor<f32> -> tensor<2xf32>
// CHECK: %[[L:.*]] = par.einsum "be,ve->bv"(%[[X]], %[[W]]) {{.*}} -> tensor<2x32xf32>
// CHECK: %[[LOSS:.*]], %{{.*}} = par.cross_entropy %[[L]], %[[T]]
// CHECK: %[[D:.*]] = par.cross_entropy_backward %[[S]], {{.*}} -> tensor<2x32xf32>
// CHECK: %[[DX:.*]] = par.einsum "bv,ve->be"(%[[D]], %[[W]])
// CHECK: %[[DW:.*]] = par.einsum "bv,be->ve"(%[[D]], %[[X]])
// CHECK: %[[SCALED:.*]] = arith.mulf %{{.*}}, %[[ACC]]
// CHECK: %[[SUM:.*]] = arith.addf %[[SCALED]], %[[DW]]
// CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<f32>
// CHECK: return %[[LOSS]], %[[DX]], %[[SUM]], %[[ONE]]
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
// CHECK: %[[DX:.*]] = par.call @large_operand.part({{.*}}) {parts = 2 : i64}
// CHECK: return %[[DX]]
func.func @large_operand(%x: tensor<4x20xf32>, %w: tensor<128x20xf32>) -> tensor<4x20xf32> {
  %l = par.einsum "be,ve->bv"(%x, %w) : (tensor<4x20xf32>, tensor<128x20xf32>) -> tensor<4x128xf32>
  %t = math.tanh %l : tensor<4x128xf32>
  %d = par.einsum "bv,ve->be"(%t, %w) : (tensor<4x128xf32>, tensor<128x20xf32>) -> tensor<4x20xf32>
  return %d : tensor<4x20xf32>
}

// All leading dimensions are rows: parts are cut where they lie behind each other. A sum that is added to nothing begins with zero.
// CHECK-LABEL: func.func @two_dimensions
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<32x2xf32>
// CHECK: %[[S:.*]] = par.call @two_dimensions.part(%{{.*}}, %{{.*}}, %[[ZERO]]) {parts = 4 : i64}
// CHECK: return %[[S]]
// CHECK: func.func private @two_dimensions.part(%[[X:[a-z0-9]+]]: tensor<1x2x2xf32>, %{{.*}}: tensor<32x2xf32>, %[[BEFORE:[a-z0-9]+]]: tensor<32x2xf32>) -> (tensor<32x2xf32> {par.place = #par.place<alias 2>})
// CHECK: %[[W:.*]] = par.einsum "bsv,bse->ve"
// CHECK: arith.addf %[[BEFORE]], %[[W]]
func.func @two_dimensions(%x: tensor<2x4x2xf32>, %w: tensor<32x2xf32>) -> tensor<32x2xf32> {
  %l = par.einsum "bse,ve->bsv"(%x, %w) : (tensor<2x4x2xf32>, tensor<32x2xf32>) -> tensor<2x4x32xf32>
  %t = math.tanh %l : tensor<2x4x32xf32>
  %d = par.einsum "bsv,bse->ve"(%t, %x) : (tensor<2x4x32xf32>, tensor<2x4x2xf32>) -> tensor<32x2xf32>
  return %d : tensor<32x2xf32>
}

// More parts are the same program.
// CHECK-LABEL: func.func @many_parts
// CHECK-COUNT-1: par.call @many_parts.part({{.*}}) {parts = 500000 : i64}
// CHECK: func.func private @many_parts.part(%{{.*}}: tensor<2x2xf32>
func.func @many_parts(%x: tensor<1000000x2xf32>, %w: tensor<32x2xf32>) -> tensor<1000000x2xf32> {
  %l = par.einsum "be,ve->bv"(%x, %w) : (tensor<1000000x2xf32>, tensor<32x2xf32>) -> tensor<1000000x32xf32>
  %t = math.tanh %l : tensor<1000000x32xf32>
  %d = par.einsum "bv,ve->be"(%t, %w) : (tensor<1000000x32xf32>, tensor<32x2xf32>) -> tensor<1000000x2xf32>
  return %d : tensor<1000000x2xf32>
}

// What masks padding of the vocabulary is made in the function, of the part's size.
// CHECK-LABEL: func.func @masked
// CHECK-NEXT: par.call @masked.part(%{{[a-z0-9]+}}, %{{[a-z0-9]+}}) {parts = 2 : i64}
// CHECK: func.func private @masked.part(
// CHECK-DAG: par.iota dim 1 : tensor<2x32xi32>
// CHECK-DAG: arith.constant dense<30> : tensor<2x32xi32>
// CHECK-DAG: arith.constant dense<0.000000e+00> : tensor<2x32xf32>
// CHECK: arith.select %{{.*}} : tensor<2x32xi1>, tensor<2x32xf32>
func.func @masked(%x: tensor<4x4xf32>, %w: tensor<32x4xf32>) -> tensor<4x4xf32> {
  %l = par.einsum "be,ve->bv"(%x, %w) : (tensor<4x4xf32>, tensor<32x4xf32>) -> tensor<4x32xf32>
  %i = par.iota dim 1 : tensor<4x32xi32>
  %n = arith.constant dense<30> : tensor<4x32xi32>
  %m = arith.cmpi slt, %i, %n : tensor<4x32xi32>
  %z = arith.constant dense<0.0> : tensor<4x32xf32>
  %s = arith.select %m, %l, %z : tensor<4x32xi1>, tensor<4x32xf32>
  %d = par.einsum "bv,ve->be"(%s, %w) : (tensor<4x32xf32>, tensor<32x4xf32>) -> tensor<4x4xf32>
  return %d : tensor<4x4xf32>
}

// Positions along the rows would begin again in every part; rows that are not outermost in an operand do not lie behind each other.
// CHECK-LABEL: func.func @numbered_rows
// CHECK-NOT: par.call
// CHECK-LABEL: func.func @inner_rows
// CHECK-NOT: par.call
func.func @numbered_rows(%x: tensor<4x4xf32>, %w: tensor<32x4xf32>) -> tensor<4x4xf32> {
  %l = par.einsum "be,ve->bv"(%x, %w) : (tensor<4x4xf32>, tensor<32x4xf32>) -> tensor<4x32xf32>
  %i = par.iota dim 0 : tensor<4x32xi32>
  %n = arith.constant dense<3> : tensor<4x32xi32>
  %m = arith.cmpi slt, %i, %n : tensor<4x32xi32>
  %z = arith.constant dense<0.0> : tensor<4x32xf32>
  %s = arith.select %m, %l, %z : tensor<4x32xi1>, tensor<4x32xf32>
  %d = par.einsum "bv,ve->be"(%s, %w) : (tensor<4x32xf32>, tensor<32x4xf32>) -> tensor<4x4xf32>
  return %d : tensor<4x4xf32>
}
func.func @inner_rows(%x: tensor<4x4xf32>, %w: tensor<32x4xf32>) -> tensor<4x4xf32> {
  %l = par.einsum "eb,ve->bv"(%x, %w) : (tensor<4x4xf32>, tensor<32x4xf32>) -> tensor<4x32xf32>
  %t = math.tanh %l : tensor<4x32xf32>
  %d = par.einsum "bv,ve->be"(%t, %w) : (tensor<4x32xf32>, tensor<32x4xf32>) -> tensor<4x4xf32>
  return %d : tensor<4x4xf32>
}

// What is returned has to exist; what is dropped out is numbered by place; two rows are the least.
// CHECK-LABEL: func.func @returned
// CHECK-NOT: par.call
// CHECK-LABEL: func.func @numbered
// CHECK-NOT: par.call
// CHECK-LABEL: func.func @few_rows
// CHECK-NOT: par.call
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
