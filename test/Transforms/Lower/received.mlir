// RUN: par-compile %s --mesh pp=3 --cuts 1,2 --micro-batches 4 --batch 4 --seq 4 --to lower | FileCheck %s
// RUN: par-compile %s --mesh pp=3 --cuts 1,2 --micro-batches 4 --batch 4 --seq 4 --schedule zb-h1 --to lower | FileCheck %s --check-prefix=SPLIT

// What a chunk received, saves and hands on is copied nowhere: all three are one buffer, which the next stage gets too.
// CHECK-LABEL: rank.func @forward_1
// CHECK-SAME: overwrites = array<i64: 0, -1, 0>
// CHECK-NOT: rank.copy
// CHECK: rank.return {values = array<i64: 0, 2, 0>}
// CHECK-LABEL: rank.schedule train stage 1
// CHECK: %[[X:.*]] = rank.slot residual "activation 0.0" activations
// CHECK: %[[NEXT:.*]] = rank.slot residual "activation 0.0.1" activations
// CHECK: %[[Y:.*]] = rank.slot residual "activation 1.1" activations
// CHECK: rank.exchange received_activation with [0] ins() outs(%[[X]] : !rank.buffer<32>) {chunk = 1 : i64, micro_batch = 0
// CHECK-NEXT: rank.action forward @forward_1 frame {{.*}} ins(%[[X]], {{.*}} outs(%[[X]], %[[Y]], %[[X]] :
// CHECK-NEXT: rank.exchange send_activation with [2] ins(%[[X]], %[[Y]] :
// The backward pass finds it there: the place is free only then.
// CHECK: rank.exchange receive_activation with [0] ins() outs(%[[THIRD:.*]] : !rank.buffer<32>) {chunk = 1 : i64, micro_batch = 2
// CHECK: rank.action backward @backward_1 frame {{.*}} ins({{%[0-9]*}}, %[[X]], {{.*}} micro_batch = 0
// CHECK: rank.exchange receive_activation with [0] ins() outs(%[[X]] : !rank.buffer<32>) {chunk = 1 : i64, micro_batch = 3

// So does the weight part with the gradient that the input part received.
// SPLIT-LABEL: rank.func @backward_input_1
// SPLIT-NOT: rank.copy
// SPLIT-LABEL: rank.schedule train stage 1
// SPLIT: %[[X:.*]] = rank.slot residual "activation 0.0" activations
// SPLIT: %[[DY:.*]] = rank.slot residual "gradient 1.1" activations
// SPLIT: rank.action backward_weight @backward_weight_1 frame {{.*}} ins(%[[X]], %[[DY]], {{.*}} micro_batch = 0
module attributes {par.model = {vocab = 8 : i64}} {
  par.variable @w : tensor<8x2xf32> dims ["vocab", "embed"] {role = #par.role<parameter>, init = #par.init<normal, 1.0>}
  par.variable @v : tensor<2x2xf32> dims ["embed", "embed"] {role = #par.role<parameter>, init = #par.init<normal, 1.0>}
  par.variable @u : tensor<2x2xf32> dims ["embed", "embed"] {role = #par.role<parameter>, init = #par.init<normal, 1.0>}
  func.func @forward(%t: tensor<1x4xi32> {par.place = #par.place<input tokens>}, %l: tensor<1x4xi32> {par.place = #par.place<input targets>},
      %w: tensor<8x2xf32> {par.place = #par.place<variable @w>}, %v: tensor<2x2xf32> {par.place = #par.place<variable @v>}, %u: tensor<2x2xf32> {par.place = #par.place<variable @u>})
      -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
    %x = par.embedding %t, %w : (tensor<1x4xi32>, tensor<8x2xf32>) -> tensor<1x4x2xf32>
    %y = par.einsum "bse,ef->bsf"(%x, %v) : (tensor<1x4x2xf32>, tensor<2x2xf32>) -> tensor<1x4x2xf32>
    %z = par.einsum "bse,ef->bsf"(%y, %u) : (tensor<1x4x2xf32>, tensor<2x2xf32>) -> tensor<1x4x2xf32>
    %s = arith.mulf %z, %x : tensor<1x4x2xf32>
    %r = par.reduce sum %s dims [0, 1, 2] : tensor<1x4x2xf32> -> tensor<f32>
    return %r : tensor<f32>
  }
}
