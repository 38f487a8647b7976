// RUN: par-opt %s -split-input-file -verify-diagnostics

func.func @rms_norm_c1(%x: tensor<8x64xf32>, %w: tensor<32xf32>) {
  // expected-error @+1 {{rms_norm_c1: weight is 32, expected 64: the input's last dimension}}
  %y, %r = par.rms_norm %x, %w {eps = 1.0e-5} : (tensor<8x64xf32>, tensor<32xf32>) -> (tensor<8x64xf32>, tensor<8xf32>)
  return
}

// -----

func.func @rms_norm_c1_scalar(%x: tensor<f32>, %w: tensor<f32>) {
  // expected-error @+1 {{rms_norm_c1: input has rank 0, expected at least 1}}
  %y, %r = par.rms_norm %x, %w {eps = 1.0e-5} : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @rms_norm_c2(%x: tensor<8x64xf32>, %w: tensor<64xf32>) {
  // expected-error @+1 {{rms_norm_c2: rstd is 64, expected 8: all but the input's last dimension}}
  %y, %r = par.rms_norm %x, %w {eps = 1.0e-5} : (tensor<8x64xf32>, tensor<64xf32>) -> (tensor<8x64xf32>, tensor<64xf32>)
  return
}

// -----

func.func @rms_norm_c1_heads(%x: tensor<8x3x4xf32>, %w: tensor<4x3xf32>) {
  // expected-error @+1 {{rms_norm_c1: weight is 4x3, expected 3x4: the input's last dimensions}}
  %y, %r = par.rms_norm %x, %w {eps = 1.0e-5, count = 12} : (tensor<8x3x4xf32>, tensor<4x3xf32>) -> (tensor<8x3x4xf32>, tensor<8xf32>)
  return
}

// -----

func.func @rms_norm_c2_heads(%x: tensor<8x3x4xf32>, %w: tensor<3x4xf32>) {
  // expected-error @+1 {{rms_norm_c2: rstd is 8x3, expected 8: all but the input's normalised dimensions}}
  %y, %r = par.rms_norm %x, %w {eps = 1.0e-5, count = 12} : (tensor<8x3x4xf32>, tensor<3x4xf32>) -> (tensor<8x3x4xf32>, tensor<8x3xf32>)
  return
}

// -----

func.func @rms_norm_c3(%x: tensor<8x3x4xf32>, %w: tensor<3x4xf32>) {
  // expected-error @+1 {{rms_norm_c3: count is 13, expected from 1 to 12, the number of the weight's elements}}
  %y, %r = par.rms_norm %x, %w {eps = 1.0e-5, count = 13} : (tensor<8x3x4xf32>, tensor<3x4xf32>) -> (tensor<8x3x4xf32>, tensor<8xf32>)
  return
}

// -----

func.func @rms_norm_c3_missing(%x: tensor<8x3x4xf32>, %w: tensor<3x4xf32>) {
  // expected-error @+1 {{rms_norm_c3: count is missing, expected the elements of a row without padding, since a weight of 2 dimensions may be split}}
  %y, %r = par.rms_norm %x, %w {eps = 1.0e-5} : (tensor<8x3x4xf32>, tensor<3x4xf32>) -> (tensor<8x3x4xf32>, tensor<8xf32>)
  return
}

// -----

func.func @rms_norm_backward_c1(%dy: tensor<4x64xf32>, %x: tensor<8x64xf32>, %w: tensor<64xf32>, %r: tensor<8xf32>) {
  // expected-error @+1 {{rms_norm_backward_c1: dy is 4x64, expected 8x64: the input's shape}}
  %dx, %dw = par.rms_norm_backward %dy, %x, %w, %r : (tensor<4x64xf32>, tensor<8x64xf32>, tensor<64xf32>, tensor<8xf32>) -> (tensor<8x64xf32>, tensor<64xf32>)
  return
}

// -----

func.func @rms_norm_backward_c1_dweight(%x: tensor<8x64xf32>, %w: tensor<64xf32>, %r: tensor<8xf32>) {
  // expected-error @+1 {{rms_norm_backward_c1: dweight is 8, expected 64: the weight's shape}}
  %dx, %dw = par.rms_norm_backward %x, %x, %w, %r : (tensor<8x64xf32>, tensor<8x64xf32>, tensor<64xf32>, tensor<8xf32>) -> (tensor<8x64xf32>, tensor<8xf32>)
  return
}

// -----

func.func @layer_norm_c1(%x: tensor<8x64xf32>, %w: tensor<64xf32>, %b: tensor<8xf32>) {
  // expected-error @+1 {{layer_norm_c1: bias is 8, expected 64: the input's last dimension}}
  %y, %m, %r = par.layer_norm %x, %w, %b {eps = 1.0e-5} : (tensor<8x64xf32>, tensor<64xf32>, tensor<8xf32>) -> (tensor<8x64xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @layer_norm_c2(%x: tensor<8x64xf32>, %w: tensor<64xf32>) {
  // expected-error @+1 {{layer_norm_c2: mean is 8x1, expected 8: all but the input's last dimension}}
  %y, %m, %r = par.layer_norm %x, %w, %w {eps = 1.0e-5} : (tensor<8x64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<8x64xf32>, tensor<8x1xf32>, tensor<8xf32>)
  return
}

// -----

func.func @layer_norm_backward_c1(%x: tensor<8x64xf32>, %w: tensor<64xf32>, %m: tensor<8xf32>) {
  // expected-error @+1 {{layer_norm_backward_c1: dbias is a scalar, expected 64: the input's last dimension}}
  %dx, %dw, %db = par.layer_norm_backward %x, %x, %w, %m, %m : (tensor<8x64xf32>, tensor<8x64xf32>, tensor<64xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8x64xf32>, tensor<64xf32>, tensor<f32>)
  return
}

// -----

func.func @standardize_c1(%x: tensor<8x64xf32>) {
  // expected-error @+1 {{standardize_c1: result is 64x8, expected 8x64: the input's shape}}
  %y, %m, %r = par.standardize %x {eps = 1.0e-5} : (tensor<8x64xf32>) -> (tensor<64x8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @standardize_c1_scalar(%x: tensor<f32>) {
  // expected-error @+1 {{standardize_c1: input has rank 0, expected at least 1}}
  %y, %m, %r = par.standardize %x {eps = 1.0e-5} : (tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @standardize_c2(%x: tensor<8x64xf32>) {
  // expected-error @+1 {{standardize_c2: mean is 64, expected 8: all but the input's last dimension}}
  %y, %m, %r = par.standardize %x {eps = 1.0e-5} : (tensor<8x64xf32>) -> (tensor<8x64xf32>, tensor<64xf32>, tensor<8xf32>)
  return
}

// -----

func.func @standardize_backward_c1(%x: tensor<8x64xf32>, %m: tensor<8xf32>, %r: tensor<8x1xf32>) {
  // expected-error @+1 {{standardize_backward_c1: rstd is 8x1, expected 8: all but the input's last dimension}}
  %dx = par.standardize_backward %x, %x, %m, %r : (tensor<8x64xf32>, tensor<8x64xf32>, tensor<8xf32>, tensor<8x1xf32>) -> tensor<8x64xf32>
  return
}
