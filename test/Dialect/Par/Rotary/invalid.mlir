// RUN: par-opt %s -split-input-file -verify-diagnostics

func.func @rotary_c1_rank(%x: tensor<8x4xf32>, %p: tensor<4xi32>) {
  // expected-error @+1 {{rotary_c1: input has rank 2, expected at least 3}}
  %y = par.rotary %x, %p {frequencies = array<f64: 1.0, 0.1>} : (tensor<8x4xf32>, tensor<4xi32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @rotary_c2_none(%x: tensor<8x16x5xf32>, %p: tensor<16xi32>) {
  // expected-error @+1 {{rotary_c2: 0 frequencies, expected 1 to 2: half of the input's last dimension}}
  %y = par.rotary %x, %p {frequencies = array<f64>} : (tensor<8x16x5xf32>, tensor<16xi32>) -> tensor<8x16x5xf32>
  return
}

// -----

func.func @rotary_c2(%x: tensor<8x16x4xf32>, %p: tensor<16xi32>) {
  // expected-error @+1 {{rotary_c2: 4 frequencies, expected 1 to 2: half of the input's last dimension}}
  %y = par.rotary %x, %p {frequencies = array<f64: 1.0, 0.1, 0.2, 0.3>} : (tensor<8x16x4xf32>, tensor<16xi32>) -> tensor<8x16x4xf32>
  return
}

// -----

func.func @rotary_c3(%x: tensor<8x16x4xf32>, %p: tensor<8xi32>) {
  // expected-error @+1 {{rotary_c3: positions is 8, expected 16: a position per row of the input's dimension 1}}
  %y = par.rotary %x, %p {frequencies = array<f64: 1.0, 0.1>} : (tensor<8x16x4xf32>, tensor<8xi32>) -> tensor<8x16x4xf32>
  return
}

// -----

func.func @rotary_c3_entries(%x: tensor<8x16x4xf32>, %p: tensor<4x16xi32>) {
  // expected-error @+1 {{rotary_c3: positions is 4x16, expected 8x16: a position per row of the input's dimension 1}}
  %y = par.rotary %x, %p {frequencies = array<f64: 1.0, 0.1>} : (tensor<8x16x4xf32>, tensor<4x16xi32>) -> tensor<8x16x4xf32>
  return
}

// -----

func.func @rotary_c4(%x: tensor<8x16x4xbf16>, %p: tensor<16xi32>) {
  // expected-error @+1 {{rotary_c4: the result has type 'tensor<8x16x4xf32>', expected the input's type 'tensor<8x16x4xbf16>'}}
  %y = par.rotary %x, %p {frequencies = array<f64: 1.0, 0.1>} : (tensor<8x16x4xbf16>, tensor<16xi32>) -> tensor<8x16x4xf32>
  return
}

// -----

func.func @rotary_tables_c1(%p: tensor<16xi32>) {
  // expected-error @+1 {{rotary_tables_c1: sines is 16x3, expected 16x2: a row per position and a column per frequency}}
  %c, %s = par.rotary_tables %p {frequencies = array<f64: 1.0, 0.1>} : (tensor<16xi32>) -> (tensor<16x2xf32>, tensor<16x3xf32>)
  return
}

// -----

func.func @rotate_c1_rank(%x: tensor<8x4xf32>, %c: tensor<4x2xf32>) {
  // expected-error @+1 {{rotate_c1: input has rank 2, expected at least 3}}
  %y = par.rotate %x, %c, %c : (tensor<8x4xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @rotate_c2_pairs(%x: tensor<8x16x5xf32>, %c: tensor<16x3xf32>) {
  // expected-error @+1 {{rotate_c2: 3 frequencies, expected 1 to 2: half of the input's last dimension}}
  %y = par.rotate %x, %c, %c : (tensor<8x16x5xf32>, tensor<16x3xf32>, tensor<16x3xf32>) -> tensor<8x16x5xf32>
  return
}

// -----

func.func @rotate_c2(%x: tensor<8x16x4xf32>, %c: tensor<16x2xf32>, %s: tensor<8x2xf32>) {
  // expected-error @+1 {{rotate_c2: sines is 8x2, expected 16x2: rows of the input's dimension 1 and a column per pair}}
  %y = par.rotate %x, %c, %s : (tensor<8x16x4xf32>, tensor<16x2xf32>, tensor<8x2xf32>) -> tensor<8x16x4xf32>
  return
}

// -----

func.func @rotate_c3(%x: tensor<8x16x4xbf16>, %c: tensor<16x2xf32>) {
  // expected-error @+1 {{rotate_c3: the result has type 'tensor<8x16x4xf32>', expected the input's type 'tensor<8x16x4xbf16>'}}
  %y = par.rotate %x, %c, %c : (tensor<8x16x4xbf16>, tensor<16x2xf32>, tensor<16x2xf32>) -> tensor<8x16x4xf32>
  return
}
