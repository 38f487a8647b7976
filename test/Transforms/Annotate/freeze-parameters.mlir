// par-freeze-parameters marks parameters and gives layers functions of their own where what their arguments depend on differs.
// RUN: par-opt %s -par-freeze-parameters="patterns=embed,layers.0.*" | FileCheck %s
// RUN: par-opt %s -par-freeze-parameters="patterns=embed,layers.0.*" -par-select-residuals -par-differentiate -par-build-optimizer -par-verify-differentiated | FileCheck %s --check-prefix=DIFF --implicit-check-not="@embed." --implicit-check-not="@w0."
// RUN: not par-opt %s -par-freeze-parameters="patterns=layer.*" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not par-opt %s -par-freeze-parameters="patterns=*" 2>&1 | FileCheck %s --check-prefix=ALL

// CHECK: par.variable @embed {{.*}}par.frozen
// CHECK: par.variable @w0 {{.*}}par.frozen
// CHECK: par.variable @w1
// CHECK-NOT: par.frozen
par.variable @embed : tensor<4x8xf32> dims ["a", "b"] {role = #par.role<parameter>, file = #par.file<"embed">}
par.variable @w0 : tensor<8x8xf32> dims ["b", "c"] {role = #par.role<parameter>, file = #par.file<"layers.0.weight">}
par.variable @w1 : tensor<8x8xf32> dims ["b", "c"] {role = #par.role<parameter>, file = #par.file<"layers.1.weight">}
par.variable @w2 : tensor<8x8xf32> dims ["b", "c"] {role = #par.role<parameter>, file = #par.file<"layers.2.weight">}

// The first layer depends on nothing that is trained, the second with one argument, the third with both.
// CHECK: func.func private @layer(
func.func private @layer(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %y = par.einsum "ab,bc->ac"(%x, %w) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK: par.call @layer(
// CHECK: par.call @layer_0(
// CHECK: par.call @layer_1(
// CHECK: func.func private @layer_0(
// CHECK: func.func private @layer_1(
// DIFF: par.variable @w1.accumulator
// DIFF: par.variable @w2.accumulator
// DIFF: par.variable @w1.gradient
// DIFF: par.variable @w1.m
func.func @forward(%e: tensor<4x8xf32> {par.place = #par.place<variable @embed>}, %a: tensor<8x8xf32> {par.place = #par.place<variable @w0>},
                   %b: tensor<8x8xf32> {par.place = #par.place<variable @w1>}, %c: tensor<8x8xf32> {par.place = #par.place<variable @w2>})
    -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %0 = par.call @layer(%e, %a) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = par.call @layer(%0, %b) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %2 = par.call @layer(%1, %c) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %3 = par.reduce sum %2 dims [0, 1] : tensor<4x8xf32> -> tensor<f32>
  return %3 : tensor<f32>
}

// NONE: error: par-freeze-parameters: no parameter's name is like 'layer.*'; the first one is embed
// ALL: error: par-freeze-parameters: all parameters are frozen, so there is nothing to train; leave one out
