// RUN: par-opt %s -split-input-file -par-differentiate -verify-diagnostics

par.variable @x : tensor<4x2xf32> dims ["d0", "d1"] {role = #par.role<step>}
// Without marks nothing says what to save.
par.variable @w : tensor<3x2xf32> dims ["mlp", "embed"] {role = #par.role<parameter>}
func.func @forward(%x: tensor<4x2xf32> {par.place = #par.place<variable @x>}, %w: tensor<3x2xf32> {par.place = #par.place<variable @w>}) -> (tensor<f32> {par.place = #par.place<output loss>})
    attributes {par.phase = #par.phase<forward>} {
  // expected-error @below {{result 0 in @forward is needed by the backward pass but neither marked par.save nor recomputed; run par-select-residuals on this graph}}
  %y = par.einsum "be,me->bm"(%x, %w) : (tensor<4x2xf32>, tensor<3x2xf32>) -> tensor<4x3xf32>
  %z = arith.mulf %y, %y : tensor<4x3xf32>
  %loss = par.reduce sum %z dims [0, 1] : tensor<4x3xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

par.variable @x : tensor<4x2xf32> dims ["d0", "d1"] {role = #par.role<step>}
// What backward reads may be a value that is made of it.
par.variable @w : tensor<3x2xf32> dims ["mlp", "embed"] {role = #par.role<parameter>}
func.func @forward(%x: tensor<4x2xf32> {par.place = #par.place<variable @x>}, %w: tensor<3x2xf32> {par.place = #par.place<variable @w>}) -> (tensor<f32> {par.place = #par.place<output loss>})
    attributes {par.phase = #par.phase<forward>} {
  // expected-error @below {{result 0 in @forward is needed by the backward pass but neither marked par.save nor recomputed}}
  %y = par.einsum "be,me->bm"(%x, %w) : (tensor<4x2xf32>, tensor<3x2xf32>) -> tensor<4x3xf32>
  // expected-note @below {{it is needed for this, which the backward pass computes again}}
  %c = arith.addf %y, %y : tensor<4x3xf32>
  %z = arith.mulf %c, %c : tensor<4x3xf32>
  %loss = par.reduce sum %z dims [0, 1] : tensor<4x3xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// An op between a parameter and the loss must have a derivative.
par.variable @w : tensor<3xf32> dims ["mlp"] {role = #par.role<parameter>}
func.func @forward(%w: tensor<3xf32> {par.place = #par.place<variable @w>}) -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward>} {
  // expected-error @below {{has no derivative but lies between a parameter and the loss; implement DifferentiableOpInterface or take it out of the graph}}
  %y = math.atan %w : tensor<3xf32>
  // expected-note @below {{the loss depends on it by this}}
  %loss = par.reduce sum %y dims [0] : tensor<3xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
