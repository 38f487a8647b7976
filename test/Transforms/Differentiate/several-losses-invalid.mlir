// RUN: par-opt %s -split-input-file -par-select-residuals -par-differentiate -verify-diagnostics

// One of several losses is the main one.
par.variable @w : tensor<4xf32> dims ["embed"] {role = #par.role<parameter>}
// expected-error @below {{@forward has the loss "size", but no main one; leave one loss without a name: #par.place<output loss>}}
func.func @forward(%w: tensor<4xf32> {par.place = #par.place<variable @w>})
    -> (tensor<f32> {par.place = #par.place<output loss "size">}) attributes {par.phase = #par.phase<forward>} {
  %loss = par.reduce sum %w dims [0] : tensor<4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// A loss that two chunks return would be reported in part.
par.variable @w : tensor<4xf32> dims ["embed"] {role = #par.role<parameter>}
// expected-note @below {{the other chunk}}
func.func @forward_0(%w: tensor<4xf32> {par.place = #par.place<variable @w>})
    -> (tensor<f32> {par.place = #par.place<output loss "size">}, tensor<4xf32> {par.place = #par.place<boundary 0>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %size = par.reduce sum %w dims [0] : tensor<4xf32> -> tensor<f32>
  return %size, %w : tensor<f32>, tensor<4xf32>
}
// expected-error @below {{@forward_1 returns #par.place<output loss "size">, as another chunk does; pass the sum on as a boundary, and return it once}}
func.func @forward_1(%w: tensor<4xf32> {par.place = #par.place<boundary 0>})
    -> (tensor<f32> {par.place = #par.place<output loss>}, tensor<f32> {par.place = #par.place<output loss "size">})
    attributes {par.phase = #par.phase<forward, chunk = 1, stage = 1>} {
  %size = par.reduce sum %w dims [0] : tensor<4xf32> -> tensor<f32>
  return %size, %size : tensor<f32>, tensor<f32>
}
