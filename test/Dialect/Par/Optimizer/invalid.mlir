// RUN: par-opt %s -split-input-file -verify-diagnostics

func.func @adamw_c1(%p: tensor<8xf32>, %g: tensor<8xf32>, %v: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{adamw_c1: v is 4, expected 8: the parameter's shape}}
  %p1, %m1, %v1 = par.adamw %p, %g, %g, %v scalars %s, %s, %s, %s, %s, %s, %s, %s
      : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>,
         tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @adamw_c1_rounded(%p: tensor<8xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{adamw_c1: rounded is 4, expected 8: the parameter's shape}}
  %p1, %m1, %v1, %q1 = par.adamw %p, %p, %p, %p scalars %s, %s, %s, %s, %s, %s, %s, %s
      : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>,
         tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<4xbf16>)
  return
}

// -----

func.func @sgd_c1(%p: tensor<8xf32>, %g: tensor<8x1xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{sgd_c1: grad is 8x1, expected 8: the parameter's shape}}
  %p1 = par.sgd %p, %g scalars %s, %s, %s : (tensor<8xf32>, tensor<8x1xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<8xf32>
  return
}
