// RUN: par-opt %s -par-select-residuals -par-differentiate -par-build-optimizer | FileCheck %s
// RUN: par-opt %s -par-select-residuals -par-differentiate -par-build-optimizer=optimizer=sgd | FileCheck %s --check-prefix=SGD
// RUN: not par-opt %s -par-select-residuals -par-differentiate -par-build-optimizer=optimizer=lion 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not par-opt %s -par-build-optimizer 2>&1 | FileCheck %s --check-prefix=EARLY

// UNKNOWN: error: par-build-optimizer: optimizer=lion is unknown, expected adamw or sgd
// EARLY: error: 'par.variable' op has no accumulator; run par-differentiate first
// EARLY: note: trained by @forward

// Gradients may lie where the accumulators lie; only adamw has moments.
// CHECK: par.variable @table.gradient {{.*}}alias = @table.accumulator, {{.*}}of = @table, role = #par.role<gradient>
// CHECK: par.variable @w0.m {{.*}}of = @w0, role = #par.role<moment>
// CHECK: par.variable @b1.v
// CHECK: par.variable @grad_norm : tensor<f32>
// SGD-NOT: par.variable @w0.m

// The accumulators pass through @reduce unchanged, the loss becomes a mean.
// CHECK-LABEL: func.func @reduce(
// CHECK-SAME: %[[A:[a-z0-9_]+]]: tensor<9x4xf32> {par.place = #par.place<variable @table.accumulator>}
// CHECK-SAME: %[[LOSS:[a-z0-9_]+]]: tensor<f32> {par.place = #par.place<variable @loss>}, %[[SCALE:[a-z0-9_]+]]: tensor<f32> {par.place = #par.place<input loss_scale>}) -> (tensor<9x4xf32> {par.place = #par.place<variable @table.gradient>}
// CHECK-SAME: tensor<f32> {par.place = #par.place<output loss>})
// CHECK-NEXT: %[[MEAN:[a-z0-9_]+]] = arith.mulf %[[LOSS]], %[[SCALE]]
// CHECK-NEXT: return %[[A]], {{.*}}, %[[MEAN]]

// CHECK-LABEL: func.func @norm(
// CHECK-SAME: -> (tensor<f32> {par.place = #par.place<variable @grad_norm, output grad_norm>})
// CHECK: par.einsum "ab,ab->"
// CHECK-COUNT-4: par.einsum "ab,ab->"
// CHECK: %[[ROOT:[a-z0-9_]+]] = math.sqrt
// CHECK: return %[[ROOT]]

// The clip factor is computed once; each call of the layer has a call of its update; the table, used directly, is updated in the chunk.
// CHECK-LABEL: func.func @update(
// CHECK-SAME: %[[NORM:[a-z0-9_]+]]: tensor<f32> {par.place = #par.place<variable @grad_norm>}, %[[LR:[a-z0-9_]+]]: tensor<f32> {par.place = #par.place<input lr>}
// CHECK-SAME: %[[CLIP:[a-z0-9_]+]]: tensor<f32> {par.place = #par.place<input clip>})
// CHECK: %[[DIVISOR:[a-z0-9_]+]] = arith.addf %[[NORM]]
// CHECK: %[[RATIO:[a-z0-9_]+]] = arith.divf %[[CLIP]], %[[DIVISOR]]
// CHECK: %[[BOUNDED:[a-z0-9_]+]] = arith.minimumf %{{.*}}, %[[RATIO]]
// CHECK: %[[ENABLED:[a-z0-9_]+]] = arith.cmpf ogt, %[[CLIP]]
// CHECK: %[[FACTOR:[a-z0-9_]+]] = arith.select %[[ENABLED]], %[[BOUNDED]]
// CHECK: %[[L0:[a-z0-9_]+]]:6 = par.call @linear.update({{.*}}, %[[FACTOR]])
// CHECK: %[[L1:[a-z0-9_]+]]:6 = par.call @linear.update({{.*}}, %[[FACTOR]])
// CHECK: %[[P:[a-z0-9_]+]], %[[M:[a-z0-9_]+]], %[[V:[a-z0-9_]+]] = par.adamw %{{.*}} {decay}
// CHECK: return %[[P]], %[[L0]]#0, %[[L0]]#1, %[[L1]]#0, %[[L1]]#1, %[[M]], %[[L0]]#2

// Decay goes by the rank in the file: the bias of two logical dimensions has none.
// CHECK-LABEL: func.func private @linear.update(
// CHECK-SAME: -> (tensor<4x4xf32> {par.place = #par.place<alias 0>}, tensor<2x2xf32> {par.place = #par.place<alias 1>}, tensor<4x4xf32> {par.place = #par.place<alias 4>}, tensor<2x2xf32> {par.place = #par.place<alias 5>}, tensor<4x4xf32> {par.place = #par.place<alias 6>}, tensor<2x2xf32> {par.place = #par.place<alias 7>})
// CHECK: par.adamw {{.*}} {decay} : {{.*}}tensor<4x4xf32>
// CHECK: par.adamw
// CHECK-NOT: decay
// CHECK-SAME: tensor<2x2xf32>
// CHECK-NOT: @linear.update.1

par.variable @ids : tensor<3xi32> dims ["d0"] {role = #par.role<step>}
// SGD-LABEL: func.func @update(
// SGD: par.call @linear.update
// SGD: par.sgd {{.*}} {decay}
// SGD-LABEL: func.func private @linear.update(
// SGD-SAME: -> (tensor<4x4xf32> {par.place = #par.place<alias 0>}, tensor<2x2xf32> {par.place = #par.place<alias 1>})
// SGD: par.sgd
par.variable @table : tensor<9x4xf32> dims ["vocab", "embed"] {role = #par.role<parameter>}
par.variable @w0 : tensor<4x4xf32> dims ["mlp", "embed"] {role = #par.role<parameter>}
par.variable @b0 : tensor<2x2xf32> dims ["heads", "head_dim"] {role = #par.role<parameter>, file = #par.file<"b0", shape = [4]>}
par.variable @w1 : tensor<4x4xf32> dims ["mlp", "embed"] {role = #par.role<parameter>}
par.variable @b1 : tensor<2x2xf32> dims ["heads", "head_dim"] {role = #par.role<parameter>, file = #par.file<"b1", shape = [4]>}
func.func private @linear(%x: tensor<3x4xf32>, %w: tensor<4x4xf32>, %b: tensor<2x2xf32>) -> tensor<3x4xf32> {
  %e = par.einsum "be,me->bm"(%x, %w) : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
  %flat = par.reshape %b : tensor<2x2xf32> -> tensor<4xf32>
  %bias = par.expand %flat dims [0] : tensor<4xf32> -> tensor<3x4xf32>
  %y = arith.addf %e, %bias : tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}
func.func @forward(%ids: tensor<3xi32> {par.place = #par.place<variable @ids>}, %table: tensor<9x4xf32> {par.place = #par.place<variable @table>},
    %w0: tensor<4x4xf32> {par.place = #par.place<variable @w0>}, %b0: tensor<2x2xf32> {par.place = #par.place<variable @b0>}, %w1: tensor<4x4xf32> {par.place = #par.place<variable @w1>},
    %b1: tensor<2x2xf32> {par.place = #par.place<variable @b1>}) -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %x = par.embedding %ids, %table : (tensor<3xi32>, tensor<9x4xf32>) -> tensor<3x4xf32>
  %y = par.call @linear(%x, %w0, %b0) : (tensor<3x4xf32>, tensor<4x4xf32>, tensor<2x2xf32>) -> tensor<3x4xf32>
  %z = par.call @linear(%y, %w1, %b1) : (tensor<3x4xf32>, tensor<4x4xf32>, tensor<2x2xf32>) -> tensor<3x4xf32>
  %loss = par.reduce sum %z dims [0, 1] : tensor<3x4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
