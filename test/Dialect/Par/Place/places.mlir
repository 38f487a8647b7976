// RUN: par-opt %s --verify-roundtrip | FileCheck %s

par.variable @w : tensor<4x2xf32> dims ["embed", "mlp"] {role = #par.role<parameter>}
par.variable @w.accumulator : tensor<4x2xf32> dims ["embed", "mlp"] {role = #par.role<accumulator>, of = @w}
par.variable @grad_norm : tensor<f32> dims [] {role = #par.role<step>}

// Inputs, variables, residuals and the values between chunks; a chunk is 0 unless it says so.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: tensor<2x8xi32> {par.dims = ["batch", "seq"], par.place = #par.place<input tokens>}
// CHECK-SAME: tensor<2xi32> {par.place = #par.place<input dropout_key>}
// CHECK-SAME: tensor<4x2xf32> {par.place = #par.place<variable @w>}
// CHECK-SAME: tensor<4xf32> {par.place = #par.place<boundary 0>}
// CHECK-SAME: -> (tensor<f32> {par.place = #par.place<output loss>}, tensor<4xf32> {par.place = #par.place<residual 3>}, tensor<4xf32> {par.place = #par.place<boundary 0>})
// CHECK-SAME: par.phase = #par.phase<forward, chunk = 0>
func.func @forward(%tokens: tensor<2x8xi32> {par.place = #par.place<input tokens>, par.dims = ["batch", "seq"]},
    %key: tensor<2xi32> {par.place = #par.place<input dropout_key>}, %w: tensor<4x2xf32> {par.place = #par.place<variable @w>},
    %before: tensor<4xf32> {par.place = #par.place<boundary 0>}, %scale: tensor<f32> {par.place = #par.place<input loss_scale>})
    -> (tensor<f32> {par.place = #par.place<output loss>}, tensor<4xf32> {par.place = #par.place<residual 3>},
        tensor<4xf32> {par.place = #par.place<boundary 0>}) attributes {par.phase = #par.phase<forward>} {
  return %scale, %before, %before : tensor<f32>, tensor<4xf32>, tensor<4xf32>
}

// The same phase of another chunk, on one rank of a mesh: a variable has the global type.
// CHECK-LABEL: func.func @forward_1(
// CHECK-SAME: par.phase = #par.phase<forward, chunk = 1, stage = 1>
func.func @forward_1(%w: tensor<2x2xf32> {par.place = #par.place<variable @w>, par.global_type = tensor<4x2xf32>}, %saved: tensor<4xf32>)
    attributes {par.local, par.phase = #par.phase<forward, chunk = 1, stage = 1>} {
  return
}

// A variable that the runtime reads; what a layer writes over.
// CHECK: tensor<f32> {par.place = #par.place<variable @grad_norm, output grad_norm>}
func.func @norm(%norm: tensor<f32> {par.place = #par.place<variable @grad_norm>})
    -> (tensor<f32> {par.place = #par.place<variable @grad_norm, output grad_norm>}) attributes {par.phase = #par.phase<norm>} {
  return %norm : tensor<f32>
}
// CHECK: tensor<4xf32> {par.place = #par.place<alias 1>}
func.func private @layer(%x: tensor<4xf32>, %sum: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32> {par.place = #par.place<alias 1>}) {
  return %x, %sum : tensor<4xf32>, tensor<4xf32>
}

// What no step changes.
// CHECK-LABEL: func.func private @constants(
// CHECK-SAME: tensor<8xi32> {par.place = #par.place<constant 0 : i32, step = 1>}
// CHECK-SAME: tensor<f32> {par.place = #par.place<constant 1.000000e+00 : f32>}
func.func private @constants(tensor<8xi32> {par.place = #par.place<constant 0 : i32, step = 1>}, tensor<f32> {par.place = #par.place<constant 1.0 : f32>})

// Further losses have names; a weight is written in as many digits as it has.
// CHECK-LABEL: func.func private @losses(
// CHECK-SAME: tensor<f32> {par.place = #par.place<input loss_weight "z-loss", weight = 1.000000e-03>}
// CHECK-SAME: -> (tensor<f32> {par.place = #par.place<output loss, weight = 5.000000e-01>}, tensor<f32> {par.place = #par.place<output loss "a_1">}, tensor<f32> {par.place = #par.place<output loss "z-loss", weight = 0.012345678912345679>})
func.func private @losses(tensor<f32> {par.place = #par.place<input loss_weight "z-loss", weight = 0.001>})
    -> (tensor<f32> {par.place = #par.place<output loss, weight = 0.5>}, tensor<f32> {par.place = #par.place<output loss "a_1">},
        tensor<f32> {par.place = #par.place<output loss "z-loss", weight = 0.012345678912345679>})

// Inputs with a name and a type of the graph's own, and who fills them where that is not the first reader for their time.
// CHECK-LABEL: func.func private @open(
// CHECK-SAME: tensor<4x3xbf16> {par.dims = ["batch", "embed"], par.place = #par.place<input "x", micro_batch>}
// CHECK-SAME: tensor<i1> {par.place = #par.place<input "a b", step>}, tensor<4xi64> {par.place = #par.place<input "y", micro_batch>}
func.func private @open(tensor<4x3xbf16> {par.place = #par.place<input "x", micro_batch>, par.dims = ["batch", "embed"]},
    tensor<i1> {par.place = #par.place<input "a b", step>}, tensor<4xi64> {par.place = #par.place<input "y", micro_batch, reader = "rows">})
