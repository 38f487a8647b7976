// RUN: par-opt %s -split-input-file -par-select-residuals='recompute=auto limit=100' -verify-diagnostics

// What cannot be differentiated is said before anything is weighed.
par.variable @w : tensor<4xf32> dims ["embed"] {role = #par.role<parameter>}
// expected-error @below {{@layer calls itself; layers must not be recursive}}
func.func private @layer(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note @below {{by this call in @layer}}
  %y = par.call @layer(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @forward(%w: tensor<4xf32> {par.place = #par.place<variable @w>}) -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward>} {
  %y = par.call @layer(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %loss = par.reduce sum %y dims [0] : tensor<4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
