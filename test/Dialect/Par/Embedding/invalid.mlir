// RUN: par-opt %s -split-input-file -verify-diagnostics -o /dev/null

func.func @embedding_c1(%ids: tensor<8xi32>, %table: tensor<32xf32>) {
  // expected-error @+1 {{embedding_c1: the table has rank 1, expected 2}}
  %0 = par.embedding %ids, %table : (tensor<8xi32>, tensor<32xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @embedding_c2_shape(%ids: tensor<8xi32>, %table: tensor<32x4xf32>) {
  // expected-error @+1 {{embedding_c2: result is 8x32, expected 8x4: the ids' shape and the row's size}}
  %0 = par.embedding %ids, %table : (tensor<8xi32>, tensor<32x4xf32>) -> tensor<8x32xf32>
  return
}

// -----

func.func @embedding_c2_type(%ids: tensor<8xi32>, %table: tensor<32x4xf32>) {
  // expected-error @+1 {{embedding_c2: result has elements of type 'bf16', table of type 'f32'}}
  %0 = par.embedding %ids, %table : (tensor<8xi32>, tensor<32x4xf32>) -> tensor<8x4xbf16>
  return
}

// -----

func.func @embedding_c3(%ids: tensor<8xi32>, %table: tensor<32x4xf32>) {
  // expected-error @+1 {{embedding_c3: padding is -1, expected at least 0}}
  %0 = par.embedding %ids, %table {padding = -1} : (tensor<8xi32>, tensor<32x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @embedding_backward_c1_rank(%ids: tensor<8xi32>, %dy: tensor<8x4xf32>) {
  // expected-error @+1 {{embedding_backward_c1: the result has rank 3, expected 2}}
  %0 = par.embedding_backward %ids, %dy : (tensor<8xi32>, tensor<8x4xf32>) -> tensor<32x4x1xf32>
  return
}

// -----

func.func @embedding_backward_c1_shape(%ids: tensor<8xi32>, %dy: tensor<8x4xf32>) {
  // expected-error @+1 {{embedding_backward_c1: dy is 8x4, expected 8x5: the ids' shape and the row's size}}
  %0 = par.embedding_backward %ids, %dy : (tensor<8xi32>, tensor<8x4xf32>) -> tensor<32x5xf32>
  return
}
