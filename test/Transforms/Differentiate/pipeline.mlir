// RUN: par-opt %s -par-differentiate-pipeline=split=true -verify-roundtrip | FileCheck %s --implicit-check-not=par.save
// RUN: par-opt %s -par-differentiate-pipeline | FileCheck %s --check-prefix=FUSED --implicit-check-not=backward_input

// All phases of one chunk, in the order in which they run; @logits keeps the layer as it was.
// CHECK: func.func private @layer(
// CHECK-LABEL: func.func @forward({{.*}}par.phase = "forward"
// CHECK-LABEL: func.func @backward({{.*}}par.phase = "backward"
// CHECK-LABEL: func.func @backward_input({{.*}}par.phase = "backward_input"
// CHECK-LABEL: func.func @backward_weight({{.*}}par.phase = "backward_weight"
// CHECK-LABEL: func.func @logits(
// CHECK: par.call @layer(
// CHECK-LABEL: func.func @reduce({{.*}}par.phase = "reduce"
// CHECK-LABEL: func.func @norm({{.*}}par.phase = "norm"
// CHECK-LABEL: func.func @update({{.*}}par.phase = "update"
// FUSED-LABEL: func.func @backward(
// FUSED-LABEL: func.func @update(
par.variable @w : tensor<3x4xf32> dims ["mlp", "embed"] {role = #par.role<parameter>}
func.func private @layer(%x: tensor<2x4xf32>, %w: tensor<3x4xf32>) -> tensor<2x3xf32> {
  %y = par.einsum "be,me->bm"(%x, %w) : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
func.func @forward(%ids: tensor<2x4xi32> {par.input = "tokens"}, %w: tensor<3x4xf32> {par.bind = @w})
    -> (tensor<f32> {par.output = "loss"}) attributes {par.chunk = 0 : i64, par.phase = "forward"} {
  %x = arith.sitofp %ids : tensor<2x4xi32> to tensor<2x4xf32>
  %y = par.call @layer(%x, %w) : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %loss = par.reduce sum %y dims [0, 1] : tensor<2x3xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
func.func @logits(%ids: tensor<2x4xi32> {par.input = "tokens"}, %w: tensor<3x4xf32> {par.bind = @w})
    -> (tensor<2x3xf32> {par.output = "logits"}) attributes {par.phase = "logits"} {
  %x = arith.sitofp %ids : tensor<2x4xi32> to tensor<2x4xf32>
  %y = par.call @layer(%x, %w) : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
