// RUN: par-opt %s -split-input-file -verify-diagnostics -o /dev/null

func.func @reduce_c1_order(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{reduce_c1: dims [1, 0] must be ascending and less than the rank 2}}
  %0 = par.reduce sum %x dims [1, 0] : tensor<2x3xf32> -> tensor<f32>
  return
}

// -----

func.func @reduce_c1_rank(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{reduce_c1: dims [2] must be ascending and less than the rank 2}}
  %0 = par.reduce sum %x dims [2] : tensor<2x3xf32> -> tensor<2xf32>
  return
}

// -----

func.func @reduce_c2_shape(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{reduce_c2: result is 3, expected 2: the remaining dimensions}}
  %0 = par.reduce sum %x dims [1] : tensor<2x3xf32> -> tensor<3xf32>
  return
}

// -----

func.func @reduce_c2_type(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{reduce_c2: result has elements of type 'f64', operand of type 'f32'; they must be equal}}
  %0 = par.reduce max %x dims [1] : tensor<2x3xf32> -> tensor<2xf64>
  return
}

// -----

func.func @reduce_c2_narrower(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{reduce_c2: result has elements of type 'bf16', operand of type 'f32'; they must be equal}}
  %0 = par.reduce sum %x dims [1] : tensor<2x3xf32> -> tensor<2xbf16>
  return
}

// -----

func.func @expand_c1(%x: tensor<3xf32>) {
  // expected-error @+1 {{expand_c1: dims [-1] must be ascending and less than the rank 2}}
  %0 = par.expand %x dims [-1] : tensor<3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @expand_c2_shape(%x: tensor<3xf32>) {
  // expected-error @+1 {{expand_c2: operand is 3, expected 2: the result's dimensions without dims}}
  %0 = par.expand %x dims [1] : tensor<3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @expand_c2_type(%x: tensor<3xf32>) {
  // expected-error @+1 {{expand_c2: result has elements of type 'i32', operand of type 'f32'}}
  %0 = par.expand %x dims [0] : tensor<3xf32> -> tensor<2x3xi32>
  return
}

// -----

func.func @reshape_c1_elements(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{reshape_c1: operand has 6 elements, result 8}}
  %0 = par.reshape %x : tensor<2x3xf32> -> tensor<8xf32>
  return
}

// -----

func.func @reshape_c1_type(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{reshape_c1: result has elements of type 'i32', operand of type 'f32'}}
  %0 = par.reshape %x : tensor<2x3xf32> -> tensor<6xi32>
  return
}

// -----

func.func @transpose_c1_twice(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{transpose_c1: [0, 0] is no permutation of 2 dimensions}}
  %0 = par.transpose %x [0, 0] : tensor<2x3xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @transpose_c1_short(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{transpose_c1: [1] is no permutation of 2 dimensions}}
  %0 = par.transpose %x [1] : tensor<2x3xf32> -> tensor<3xf32>
  return
}

// -----

func.func @transpose_c2(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{transpose_c2: result is 2x3, expected 3x2: the operand's shape permuted}}
  %0 = par.transpose %x [1, 0] : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_c1_box(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{slice_c1: dimension 1 from 2 with size 2 leaves the size 3}}
  %0 = par.slice %x from [0, 2] : tensor<2x3xf32> -> tensor<2x2xf32>
  return
}

// -----

// The end of the box is beyond what 64 bits hold.
func.func @slice_c1_overflow(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{slice_c1: dimension 1 from 9223372036854775807 with size 2 leaves the size 3}}
  %0 = par.slice %x from [0, 9223372036854775807] : tensor<2x3xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @slice_c1_rank(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{slice_c1: 1 offsets, box of rank 2 within rank 2; the three must be equal}}
  %0 = par.slice %x from [0] : tensor<2x3xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @slice_c2(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{slice_c2: result has elements of type 'f16', operand of type 'f32'}}
  %0 = par.slice %x from [0, 0] : tensor<2x3xf32> -> tensor<2x2xf16>
  return
}

// -----

func.func @pad_c1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{pad_c1: dimension 0 from -1 with size 2 leaves the size 4}}
  %0 = par.pad %x at [-1, 0] : tensor<2x3xf32> -> tensor<4x3xf32>
  return
}

// -----

func.func @pad_c2(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{pad_c2: result has elements of type 'f16', operand of type 'f32'}}
  %0 = par.pad %x at [0, 0] : tensor<2x3xf32> -> tensor<4x3xf16>
  return
}

// -----

func.func @concat_c1() {
  // expected-error @+1 {{concat_c1: at least one operand is needed}}
  %0 = "par.concat"() {dim = 0 : i64} : () -> tensor<4xf32>
  return
}

// -----

func.func @concat_c2_dim(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{concat_c2: dim 2 must be less than the rank 2}}
  %0 = par.concat %x dim 2 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @concat_c2_rank(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{concat_c2: operand 'tensor<2x3xf32>' has another rank than the result 'tensor<2xf32>'}}
  %0 = par.concat %x dim 0 : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @concat_c2_size(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error @+1 {{concat_c2: operand 'tensor<2x4xf32>' differs from the result 'tensor<4x3xf32>' in dimension 1}}
  %0 = par.concat %x, %y dim 0 : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @concat_c2_type(%x: tensor<2x3xf32>, %y: tensor<2x3xf16>) {
  // expected-error @+1 {{concat_c2: result has elements of type 'f32', an operand of type 'f16'}}
  %0 = par.concat %x, %y dim 0 : (tensor<2x3xf32>, tensor<2x3xf16>) -> tensor<4x3xf32>
  return
}

// -----

func.func @concat_c3(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{concat_c3: sizes along dimension 0 add up to 4, the result has 5}}
  %0 = par.concat %x, %x dim 0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @iota_c1() {
  // expected-error @+1 {{iota_c1: dim 1 must be less than the rank 1}}
  %0 = par.iota dim 1 : tensor<4xi32>
  return
}
