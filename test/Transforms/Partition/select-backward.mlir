// RUN: par-opt %s -par-select-backward=schedule=1f1b | FileCheck %s --check-prefix=WHOLE --implicit-check-not=@backward_ --implicit-check-not=@layer.
// RUN: par-opt %s -par-select-backward=schedule=zb-h1 | FileCheck %s --check-prefix=PARTS --implicit-check-not=@backward( --implicit-check-not=@layer.backward(
// RUN: par-opt %s -par-select-backward=schedule=zb-v | FileCheck %s --check-prefix=PARTS --implicit-check-not=@backward( --implicit-check-not=@layer.backward(
// RUN: par-opt %s -par-select-backward=schedule=dualpipe-v | FileCheck %s --check-prefix=BOTH
// RUN: not par-opt %s -par-select-backward=schedule=none 2>&1 | FileCheck %s --check-prefix=NONE

// What the schedule does not run goes, with the layers that only it calls. Where there is no such schedule for the chunks, par-to-rank says so.
// NONE: error: par-select-backward: no schedule is called 'none'; expected gpipe, 1f1b, interleaved-1f1b, zb-h1, zb-h2, zb-v, dualpipe-v, layer-wise, auto
// WHOLE: func.func private @shared(
// WHOLE: func.func @forward(
// WHOLE: func.func @backward(
// PARTS: func.func private @shared(
// PARTS: func.func private @layer.backward_input(
// PARTS: func.func @backward_input(
// PARTS: func.func @backward_weight(
// BOTH: func.func @backward(
// BOTH: func.func @backward_input(
// BOTH: func.func @backward_weight(
func.func private @shared(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func private @layer.backward_input(%x: tensor<f32>) -> tensor<f32> {
  %0 = par.call @shared(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @forward() attributes {par.phase = #par.phase<forward, chunk = 0>} {
  return
}
func.func @backward(%x: tensor<f32> {par.place = #par.place<input loss_scale>}) attributes {par.phase = #par.phase<backward, chunk = 0>} {
  %0 = par.call @shared(%x) : (tensor<f32>) -> tensor<f32>
  return
}
func.func @backward_input(%x: tensor<f32> {par.place = #par.place<input loss_scale>}) attributes {par.phase = #par.phase<backward_input, chunk = 0>} {
  %0 = par.call @layer.backward_input(%x) : (tensor<f32>) -> tensor<f32>
  return
}
func.func @backward_weight() attributes {par.phase = #par.phase<backward_weight, chunk = 0>} {
  return
}
