// RUN: par-opt %s -par-cut-pipeline="stages=3 cuts=1,2" -split-input-file | FileCheck %s
// RUN: par-opt %s -par-cut-pipeline="stages=3 cuts=1,2 explain=true" -split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNITS

// A skip over the middle chunk passes through it; the table is tied, not sent; positions are computed again.
// UNITS: remark: unit 0 (@embed): {{.*}} us, 64 bytes of parameters, hands on 32 bytes; chunk 0 on stage 0
// UNITS: remark: unit 1 (@twice): {{.*}} us, 0 bytes of parameters, hands on 32 bytes; chunk 1 on stage 1
// UNITS: remark: unit 2 (@head): {{.*}} us, 64 bytes of parameters, hands on 4 bytes; chunk 2 on stage 2

// CHECK-LABEL: func.func @forward_0(
// CHECK-SAME: %[[W:.*]]: tensor<8x2xf32> {par.place = #par.place<variable @w>}
// CHECK-SAME: -> (tensor<4x2xf32> {par.place = #par.place<boundary 0>})
// CHECK-SAME: par.phase = #par.phase<forward, chunk = 0>
// CHECK: par.iota
// CHECK: par.call @embed
// CHECK-LABEL: func.func @forward_1(
// CHECK-SAME: %[[X:.*]]: tensor<4x2xf32> {par.place = #par.place<boundary 0>})
// CHECK-SAME: -> (tensor<4x2xf32> {par.place = #par.place<boundary 0>}, tensor<4x2xf32> {par.place = #par.place<boundary 1>})
// CHECK-SAME: par.phase = #par.phase<forward, chunk = 1, stage = 1>
// CHECK: %[[Y:.*]] = par.call @twice(%[[X]])
// CHECK: return %[[X]], %[[Y]]
// CHECK-LABEL: func.func @forward_2(
// CHECK-SAME: tensor<4x2xf32> {par.place = #par.place<boundary 0>}, %{{.*}}: tensor<4x2xf32> {par.place = #par.place<boundary 1>}
// CHECK-SAME: {par.place = #par.place<variable @w>}
// CHECK-SAME: -> (tensor<f32> {par.place = #par.place<output loss>})
// CHECK-SAME: par.phase = #par.phase<forward, chunk = 2, stage = 2>
// CHECK: par.iota
// CHECK: par.call @head
// CHECK-NOT: func.func @forward(

// Cut by where parameters are: the last chunk that computes anything is the last one there is.
// CHECK-LABEL: func.func @logits_0(
// CHECK: par.call @embed
// CHECK: par.call @twice
// CHECK-NOT: func.func @logits_1(
module {
  par.variable @w : tensor<8x2xf32> dims ["vocab", "embed"] {role = #par.role<parameter>}
  func.func private @embed(%w: tensor<8x2xf32>, %i: tensor<4xi32>) -> tensor<4x2xf32> {
    %0 = par.embedding %i, %w : (tensor<4xi32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    return %0 : tensor<4x2xf32>
  }
  func.func private @twice(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
    %0 = arith.addf %x, %x : tensor<4x2xf32>
    return %0 : tensor<4x2xf32>
  }
  func.func private @head(%x: tensor<4x2xf32>, %y: tensor<4x2xf32>, %w: tensor<8x2xf32>, %i: tensor<4xi32>) -> tensor<f32> {
    %0 = par.embedding %i, %w : (tensor<4xi32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    %1 = arith.addf %x, %y : tensor<4x2xf32>
    %2 = arith.mulf %0, %1 : tensor<4x2xf32>
    %3 = par.reduce sum %2 dims [0, 1] : tensor<4x2xf32> -> tensor<f32>
    return %3 : tensor<f32>
  }
  func.func @forward(%w: tensor<8x2xf32> {par.place = #par.place<variable @w>})
      -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
    %i = par.iota dim 0 : tensor<4xi32>
    %0 = par.call @embed(%w, %i) : (tensor<8x2xf32>, tensor<4xi32>) -> tensor<4x2xf32>
    %1 = par.call @twice(%0) : (tensor<4x2xf32>) -> tensor<4x2xf32>
    %2 = par.call @head(%0, %1, %w, %i) : (tensor<4x2xf32>, tensor<4x2xf32>, tensor<8x2xf32>, tensor<4xi32>) -> tensor<f32>
    return %2 : tensor<f32>
  }
  func.func @logits(%w: tensor<8x2xf32> {par.place = #par.place<variable @w>})
      -> (tensor<4x2xf32>) attributes {par.phase = #par.phase<logits, chunk = 0>} {
    %i = par.iota dim 0 : tensor<4xi32>
    %0 = par.call @embed(%w, %i) : (tensor<8x2xf32>, tensor<4xi32>) -> tensor<4x2xf32>
    %1 = par.call @twice(%0) : (tensor<4x2xf32>) -> tensor<4x2xf32>
    return %1 : tensor<4x2xf32>
  }
}

// -----

// A graph without calls is cut between its ops.
// CHECK-LABEL: func.func @forward_0(
// CHECK: %[[A:.*]] = par.einsum
// CHECK-NEXT: return %[[A]]
// CHECK-LABEL: func.func @forward_1(
// CHECK: par.einsum
// CHECK-LABEL: func.func @forward_2(
// CHECK: par.reduce
module {
  par.variable @x : tensor<4x2xf32> dims ["c", "b"] {role = #par.role<parameter>}
  par.variable @v : tensor<2x2xf32> dims ["a", "b"] {role = #par.role<parameter>}
  func.func @forward(%x: tensor<4x2xf32> {par.place = #par.place<variable @x>}, %v: tensor<2x2xf32> {par.place = #par.place<variable @v>})
      -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
    %0 = par.einsum "ab,bc->ac"(%x, %v) : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
    %1 = par.einsum "ab,bc->ac"(%0, %v) : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
    %2 = par.reduce sum %1 dims [0, 1] : tensor<4x2xf32> -> tensor<f32>
    return %2 : tensor<f32>
  }
}
