// RUN: par-opt %s -par-differentiate-pipeline=split=true -verify-roundtrip | FileCheck %s --implicit-check-not=par.save
// RUN: par-opt %s -par-differentiate-pipeline | FileCheck %s --check-prefix=FUSED --implicit-check-not=backward_input

// All phases of one chunk, in the order in which they run; @logits keeps the layer as it was.
// CHECK: func.func private @layer(
// CHECK-LABEL: func.func @forward({{.*}}par.phase = #par.phase<forward, chunk = 0>
// CHECK-LABEL: func.func @backward({{.*}}par.phase = #par.phase<backward, chunk = 0>
// CHECK-LABEL: func.func @backward_input({{.*}}par.phase = #par.phase<backward_input, chunk = 0>
// CHECK-LABEL: func.func @backward_weight({{.*}}par.phase = #par.phase<backward_weight, chunk = 0>
// CHECK-LABEL: func.func @logits(
// CHECK: par.call @layer(
// CHECK-LABEL: func.func @reduce({{.*}}par.phase = #par.phase<reduce, chunk = 0>
// CHECK-LABEL: func.func @norm({{.*}}par.phase = #par.phase<norm, chunk = 0>
// CHECK-LABEL: func.func @update({{.*}}par.phase = #par.phase<update, chunk = 0>
// FUSED-LABEL: func.func @backward(
// FUSED-LABEL: func.func @update(
par.variable @w : tensor<3x4xf32> dims ["mlp", "embed"] {role = #par.role<parameter>}
func.func private @layer(%x: tensor<2x4xf32>, %w: tensor<3x4xf32>) -> tensor<2x3xf32> {
  %y = par.einsum "be,me->bm"(%x, %w) : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
func.func @forward(%ids: tensor<2x4xi32> {par.place = #par.place<input tokens>}, %w: tensor<3x4xf32> {par.place = #par.place<variable @w>})
    -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %x = arith.sitofp %ids : tensor<2x4xi32> to tensor<2x4xf32>
  %y = par.call @layer(%x, %w) : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %loss = par.reduce sum %y dims [0, 1] : tensor<2x3xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
func.func @logits(%ids: tensor<2x4xi32> {par.place = #par.place<input tokens>}, %w: tensor<3x4xf32> {par.place = #par.place<variable @w>})
    -> (tensor<1x2x3xf32> {par.place = #par.place<output logits>}) attributes {par.phase = #par.phase<logits, chunk = 0>} {
  %x = arith.sitofp %ids : tensor<2x4xi32> to tensor<2x4xf32>
  %y = par.call @layer(%x, %w) : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %z = par.expand %y dims [0] : tensor<2x3xf32> -> tensor<1x2x3xf32>
  return %z : tensor<1x2x3xf32>
}
