// RUN: not par-opt %s -par-cut-pipeline="stages=3" 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: error: {{.*}}par-cut-pipeline: 3 chunks need as many units, but @forward has 2 (its ops); take fewer stages or chunks
// RUN: not par-opt %s -par-cut-pipeline="stages=2 cuts=0" 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not par-opt %s -par-cut-pipeline="stages=2 cuts=2" 2>&1 | FileCheck %s --check-prefix=RANGE
// RANGE: error: {{.*}}par-cut-pipeline: cuts {{[02]}}: {{[02]}} is no unit behind 0; @forward has units 0 to 1, and every chunk has one or more
// RUN: not par-opt %s -par-cut-pipeline="stages=2 cuts=1,1" 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: error: {{.*}}par-cut-pipeline: cuts 1, 1: 2 chunks begin at 1 units behind the first, but 2 are given
// RUN: not par-opt %s -par-cut-pipeline="stages=2 chunks=2" 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: error: par-cut-pipeline: 1f1b has 1 chunk per stage, not 2; several take interleaved-1f1b
// RUN: sed '/^  func.func @backwards/,/^  }/d' %s | par-opt -par-cut-pipeline="stages=2" | not par-opt -par-cut-pipeline="stages=2" 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: par-cut-pipeline: the module has 2 functions of phase forward, expected 1
// TWICE: note: chunk 0
// TWICE: note: chunk 1
// RUN: not par-opt %s -par-cut-pipeline="stages=2" 2>&1 | FileCheck %s --check-prefix=HOLDS
// HOLDS: error: {{.*}}par-cut-pipeline: no chunk behind what it uses has all parameters of this op of @backwards
module {
  par.variable @v : tensor<2x2xf32> dims ["a", "b"] {role = #par.role<parameter>}
  par.variable @w : tensor<2x2xf32> dims ["a", "b"] {role = #par.role<parameter>}
  func.func @forward(%v: tensor<2x2xf32> {par.place = #par.place<variable @v>}, %w: tensor<2x2xf32> {par.place = #par.place<variable @w>})
      -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
    %0 = par.reduce sum %v dims [0] : tensor<2x2xf32> -> tensor<2xf32>
    %1 = par.einsum "a,ab->"(%0, %w) : (tensor<2xf32>, tensor<2x2xf32>) -> tensor<f32>
    return %1 : tensor<f32>
  }
  // The parameters in the other order: what comes first is on the last stage.
  func.func @backwards(%v: tensor<2x2xf32> {par.place = #par.place<variable @v>}, %w: tensor<2x2xf32> {par.place = #par.place<variable @w>})
      -> (tensor<f32>) attributes {par.phase = #par.phase<logits, chunk = 0>} {
    %0 = par.reduce sum %w dims [0] : tensor<2x2xf32> -> tensor<2xf32>
    %1 = par.einsum "a,ab->"(%0, %v) : (tensor<2xf32>, tensor<2x2xf32>) -> tensor<f32>
    return %1 : tensor<f32>
  }
}
