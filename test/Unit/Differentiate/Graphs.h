//===- Graphs.h - small training graphs -------------------------------------------------------*- C++ -*-===//
#ifndef PAR_TEST_UNIT_DIFFERENTIATE_GRAPHS_H
#define PAR_TEST_UNIT_DIFFERENTIATE_GRAPHS_H

/// ColumnParallelLinear → GeLU → RowParallelLinear with biases and a squared loss; @forward holds all ops
/// itself.
inline constexpr const char *kFlatPair = R"(
par.variable @table : tensor<7x4xf32> dims ["vocab", "embed"] {role = #par.role<parameter>}
par.variable @up : tensor<6x4xf32> dims ["mlp", "embed"] {role = #par.role<parameter>}
par.variable @up_bias : tensor<6xf32> dims ["mlp"] {role = #par.role<parameter>}
par.variable @down : tensor<4x6xf32> dims ["embed", "mlp"] {role = #par.role<parameter>}
par.variable @down_bias : tensor<4xf32> dims ["embed"] {role = #par.role<parameter>}
par.variable @unused : tensor<3xf32> dims ["embed"] {role = #par.role<parameter>}
func.func @forward(%ids: tensor<2x3xi32> {par.place = #par.place<input tokens>, par.dims = ["batch", "seq"]},
    %targets: tensor<2x3xi32> {par.place = #par.place<input targets>, par.dims = ["batch", "seq"]},
    %table: tensor<7x4xf32> {par.place = #par.place<variable @table>}, %w0: tensor<6x4xf32> {par.place = #par.place<variable @up>}, %b0: tensor<6xf32> {par.place = #par.place<variable @up_bias>},
    %w1: tensor<4x6xf32> {par.place = #par.place<variable @down>}, %b1: tensor<4xf32> {par.place = #par.place<variable @down_bias>}, %u: tensor<3xf32> {par.place = #par.place<variable @unused>})
    -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %x = par.embedding %ids, %table : (tensor<2x3xi32>, tensor<7x4xf32>) -> tensor<2x3x4xf32>
  %e = par.einsum "bse,me->bsm"(%x, %w0) : (tensor<2x3x4xf32>, tensor<6x4xf32>) -> tensor<2x3x6xf32>
  %bias0 = par.expand %b0 dims [0, 1] : tensor<6xf32> -> tensor<2x3x6xf32>
  %h = arith.addf %e, %bias0 : tensor<2x3x6xf32>
  %half = arith.constant dense<0.5> : tensor<2x3x6xf32>
  %one = arith.constant dense<1.0> : tensor<2x3x6xf32>
  %c = arith.constant dense<0.797884583> : tensor<2x3x6xf32>
  %k = arith.constant dense<0.044715> : tensor<2x3x6xf32>
  %hh = arith.mulf %h, %h : tensor<2x3x6xf32>
  %hhh = arith.mulf %hh, %h : tensor<2x3x6xf32>
  %kh = arith.mulf %k, %hhh : tensor<2x3x6xf32>
  %sum = arith.addf %h, %kh : tensor<2x3x6xf32>
  %inner = arith.mulf %c, %sum : tensor<2x3x6xf32>
  %t = math.tanh %inner : tensor<2x3x6xf32>
  %t1 = arith.addf %one, %t : tensor<2x3x6xf32>
  %half_h = arith.mulf %half, %h : tensor<2x3x6xf32>
  %g = arith.mulf %half_h, %t1 : tensor<2x3x6xf32>
  %o = par.einsum "bsm,em->bse"(%g, %w1) : (tensor<2x3x6xf32>, tensor<4x6xf32>) -> tensor<2x3x4xf32>
  %bias1 = par.expand %b1 dims [0, 1] : tensor<4xf32> -> tensor<2x3x4xf32>
  %y = arith.addf %o, %bias1 : tensor<2x3x4xf32>
  %goal = arith.sitofp %targets : tensor<2x3xi32> to tensor<2x3xf32>
  %goals = par.expand %goal dims [2] : tensor<2x3xf32> -> tensor<2x3x4xf32>
  %d = arith.subf %y, %goals : tensor<2x3x4xf32>
  %d2 = arith.mulf %d, %d : tensor<2x3x4xf32>
  %loss = par.reduce sum %d2 dims [0, 1, 2] : tensor<2x3x4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
)";

/// Embedding, two calls of one layer and a head with the embedding's weight; the second call of @twice shares
/// @shared with the first, and
/// @shared is used directly as well. So: tied weights, contributions by calls and ops, and a call whose
/// accumulators are partly begun.
inline constexpr const char *kTiedLayers = R"(
par.variable @table : tensor<7x4xf32> dims ["vocab", "embed"] {role = #par.role<parameter>}
par.variable @norm0 : tensor<4xf32> dims ["embed"] {role = #par.role<parameter>}
par.variable @norm1 : tensor<4xf32> dims ["embed"] {role = #par.role<parameter>}
par.variable @own0 : tensor<6x4xf32> dims ["mlp", "embed"] {role = #par.role<parameter>}
par.variable @own1 : tensor<6x4xf32> dims ["mlp", "embed"] {role = #par.role<parameter>}
par.variable @shared : tensor<4x6xf32> dims ["embed", "mlp"] {role = #par.role<parameter>}
func.func private @embed(%ids: tensor<2x3xi32>, %table: tensor<7x4xf32>) -> tensor<2x3x4xf32> {
  %x = par.embedding %ids, %table : (tensor<2x3xi32>, tensor<7x4xf32>) -> tensor<2x3x4xf32>
  return %x : tensor<2x3x4xf32>
}
func.func private @inner(%x: tensor<2x3x4xf32>, %w: tensor<6x4xf32>) -> tensor<2x3x6xf32> {
  %h = par.einsum "bse,me->bsm"(%x, %w) : (tensor<2x3x4xf32>, tensor<6x4xf32>) -> tensor<2x3x6xf32>
  %t = math.tanh %h : tensor<2x3x6xf32>
  return %t : tensor<2x3x6xf32>
}
func.func private @layer(%x: tensor<2x3x4xf32>, %n: tensor<4xf32>, %w0: tensor<6x4xf32>, %w1: tensor<4x6xf32>) -> tensor<2x3x4xf32> {
  %z, %r = par.rms_norm %x, %n {eps = 1.0e-5} : (tensor<2x3x4xf32>, tensor<4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3xf32>)
  %t = par.call @inner(%z, %w0) : (tensor<2x3x4xf32>, tensor<6x4xf32>) -> tensor<2x3x6xf32>
  %o = par.einsum "bsm,em->bse"(%t, %w1) : (tensor<2x3x6xf32>, tensor<4x6xf32>) -> tensor<2x3x4xf32>
  %y = arith.addf %x, %o : tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}
func.func private @head(%x: tensor<2x3x4xf32>, %table: tensor<7x4xf32>, %targets: tensor<2x3xi32>) -> tensor<f32> {
  %logits = par.einsum "bse,ve->bsv"(%x, %table) : (tensor<2x3x4xf32>, tensor<7x4xf32>) -> tensor<2x3x7xf32>
  %losses, %lse = par.cross_entropy %logits, %targets {classes = 7} : (tensor<2x3x7xf32>, tensor<2x3xi32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  %loss = par.reduce sum %losses dims [0, 1] : tensor<2x3xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
func.func @forward(%ids: tensor<2x3xi32> {par.place = #par.place<input tokens>, par.dims = ["batch", "seq"]},
    %targets: tensor<2x3xi32> {par.place = #par.place<input targets>, par.dims = ["batch", "seq"]}, %table: tensor<7x4xf32> {par.place = #par.place<variable @table>},
    %n0: tensor<4xf32> {par.place = #par.place<variable @norm0>}, %n1: tensor<4xf32> {par.place = #par.place<variable @norm1>}, %own0: tensor<6x4xf32> {par.place = #par.place<variable @own0>},
    %own1: tensor<6x4xf32> {par.place = #par.place<variable @own1>}, %shared: tensor<4x6xf32> {par.place = #par.place<variable @shared>})
    -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %x = par.call @embed(%ids, %table) : (tensor<2x3xi32>, tensor<7x4xf32>) -> tensor<2x3x4xf32>
  %y = par.call @layer(%x, %n0, %own0, %shared) : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<6x4xf32>, tensor<4x6xf32>) -> tensor<2x3x4xf32>
  %z = par.call @layer(%y, %n1, %own1, %shared) : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<6x4xf32>, tensor<4x6xf32>) -> tensor<2x3x4xf32>
  %loss = par.call @head(%z, %table, %targets) : (tensor<2x3x4xf32>, tensor<7x4xf32>, tensor<2x3xi32>) -> tensor<f32>
  %squares = arith.mulf %shared, %shared : tensor<4x6xf32>
  %penalty = par.reduce sum %squares dims [0, 1] : tensor<4x6xf32> -> tensor<f32>
  %total = arith.addf %loss, %penalty : tensor<f32>
  return %total : tensor<f32>
}
)";

/// A layer whose result is its own residual, a layer that is given a parameter once and an activation once
/// (so its cotangent is a plain result), one operand passed twice, and a scalar parameter.
inline constexpr const char *kSharedValues = R"(
par.variable @table : tensor<7x4xf32> dims ["vocab", "embed"] {role = #par.role<parameter>}
par.variable @gain : tensor<2x3x4xf32> dims ["batch", "seq", "embed"] {role = #par.role<parameter>}
par.variable @scalar : tensor<f32> dims [] {role = #par.role<parameter>}
func.func private @softmax(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %y = par.softmax %x : tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}
func.func private @times(%x: tensor<2x3x4xf32>, %w: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %y = arith.mulf %x, %w : tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}
func.func @forward(%ids: tensor<2x3xi32> {par.place = #par.place<input tokens>, par.dims = ["batch", "seq"]},
    %table: tensor<7x4xf32> {par.place = #par.place<variable @table>}, %gain: tensor<2x3x4xf32> {par.place = #par.place<variable @gain>}, %s: tensor<f32> {par.place = #par.place<variable @scalar>})
    -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %x = par.embedding %ids, %table : (tensor<2x3xi32>, tensor<7x4xf32>) -> tensor<2x3x4xf32>
  %y = par.call @softmax(%x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %z = par.call @times(%y, %gain) : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %zz = par.call @times(%z, %z) : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %factor = par.expand %s dims [0, 1, 2] : tensor<f32> -> tensor<2x3x4xf32>
  %scaled = arith.mulf %zz, %factor : tensor<2x3x4xf32>
  %y2 = par.call @softmax(%scaled) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %weighted = arith.mulf %y2, %x : tensor<2x3x4xf32>
  %loss = par.reduce sum %weighted dims [0, 1, 2] : tensor<2x3x4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
)";

#endif // PAR_TEST_UNIT_DIFFERENTIATE_GRAPHS_H
