// RUN: par-opt %s -split-input-file -par-build-evaluation -par-select-residuals -par-differentiate -par-build-optimizer='optimizer=sgd' | FileCheck %s

// Every loss is added up in a variable of its own; the cotangent of one that has a weight is the scale times that weight. Evaluation has the main loss alone, and
// @reduce gives the mean of each.
// CHECK: par.variable @loss :
// CHECK: par.variable @loss.size :
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<f32> {par.place = #par.place<input beta>}, %[[SIZE:[a-z0-9]+]]: tensor<f32> {par.place = #par.place<variable @loss.size>}, %[[MAIN:[a-z0-9]+]]: tensor<f32> {par.place = #par.place<variable @loss>})
// CHECK-SAME: tensor<f32> {par.place = #par.place<variable @loss.size>}, tensor<f32> {par.place = #par.place<variable @loss>})
// CHECK-DAG: arith.mulf %[[B]], %[[MAIN]]
// CHECK-DAG: arith.mulf %[[B]], %[[SIZE]]
// CHECK-LABEL: func.func @backward(
// CHECK-SAME: %[[SCALE:[a-z0-9]+]]: tensor<f32> {par.place = #par.place<input loss_scale>}, %[[WEIGHT:[a-z0-9]+]]: tensor<f32> {par.place = #par.place<input loss_weight "size", weight = 1.250000e-01>}
// CHECK: %[[SEED:.*]] = arith.mulf %[[SCALE]], %[[WEIGHT]]
// CHECK-DAG: par.expand %[[SEED]]
// CHECK-DAG: par.expand %[[SCALE]]
// CHECK-LABEL: func.func @eval(
// CHECK-SAME: -> (tensor<f32> {par.place = #par.place<output eval_loss>})
// CHECK-LABEL: func.func @reduce(
// CHECK-SAME: tensor<f32> {par.place = #par.place<output loss "size">}, tensor<f32> {par.place = #par.place<output loss>})
par.variable @w : tensor<4x4xf32> dims ["mlp", "embed"] {role = #par.role<parameter>}
func.func @forward(%t: tensor<2x4xi32> {par.place = #par.place<input tokens>}, %w: tensor<4x4xf32> {par.place = #par.place<variable @w>})
    -> (tensor<f32> {par.place = #par.place<output loss "size", weight = 0.125>}, tensor<f32> {par.place = #par.place<output loss>})
    attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %x = arith.sitofp %t : tensor<2x4xi32> to tensor<2x4xf32>
  %y = par.einsum "be,me->bm"(%x, %w) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %main = par.reduce sum %y dims [0, 1] : tensor<2x4xf32> -> tensor<f32>
  %square = arith.mulf %y, %y : tensor<2x4xf32>
  %size = par.reduce sum %square dims [0, 1] : tensor<2x4xf32> -> tensor<f32>
  return %size, %main : tensor<f32>, tensor<f32>
}
