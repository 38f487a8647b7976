// RUN: par-opt %s -split-input-file -verify-diagnostics

func.func @softmax_c1(%x: tensor<f32>) {
  // expected-error @+1 {{softmax_c1: input has rank 0, expected at least 1}}
  %y = par.softmax %x : tensor<f32>
  return
}

// -----

func.func @softmax_backward_c1(%x: tensor<f32>) {
  // expected-error @+1 {{softmax_backward_c1: dy has rank 0, expected at least 1}}
  %y = par.softmax_backward %x, %x : tensor<f32>
  return
}
