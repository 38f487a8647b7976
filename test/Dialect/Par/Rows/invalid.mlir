// RUN: par-opt %s -split-input-file -verify-diagnostics

func.func @take_rows_c1(%ids: tensor<8xi32>, %table: tensor<f32>) {
  // expected-error @+1 {{take_rows_c1: table has rank 0, expected at least 1}}
  %0 = par.take_rows %ids, %table : (tensor<8xi32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @take_rows_c2_shape(%ids: tensor<8xi32>, %table: tensor<32x4x2xf32>) {
  // expected-error @+1 {{take_rows_c2: result is 8x4, expected 8x4x2: the ids' shape and the row's}}
  %0 = par.take_rows %ids, %table : (tensor<8xi32>, tensor<32x4x2xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @take_rows_c2_type(%ids: tensor<8xi32>, %table: tensor<32x4xf32>) {
  // expected-error @+1 {{take_rows_c2: result has elements of type 'bf16', table of type 'f32'}}
  %0 = par.take_rows %ids, %table : (tensor<8xi32>, tensor<32x4xf32>) -> tensor<8x4xbf16>
  return
}

// -----

func.func @add_rows_c1(%ids: tensor<8xi32>, %rows: tensor<8xf32>) {
  // expected-error @+1 {{add_rows_c1: result has rank 0, expected at least 1}}
  %0 = par.add_rows %ids, %rows : (tensor<8xi32>, tensor<8xf32>) -> tensor<f32>
  return
}

// -----

func.func @add_rows_c2(%ids: tensor<8xi32>, %rows: tensor<8x4xf32>) {
  // expected-error @+1 {{add_rows_c2: rows is 8x4, expected 8x4x2: the ids' shape and that of a row of the result}}
  %0 = par.add_rows %ids, %rows : (tensor<8xi32>, tensor<8x4xf32>) -> tensor<32x4x2xf32>
  return
}
