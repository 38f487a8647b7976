// RUN: par-opt %s -split-input-file -verify-diagnostics -o /dev/null

func.func @dropout_c1(%x: tensor<8x4xf32>, %k: tensor<2xi32>, %s: tensor<i32>, %o: tensor<2xi32>) {
  // expected-error @+1 {{dropout_c1: p is 1.000000e+00, expected at least 0 and less than 1}}
  %0 = par.dropout %x key %k site %s row %s offsets %o {p = 1.0, strides = array<i64: 0, 1>}
      : (tensor<8x4xf32>, tensor<2xi32>, tensor<i32>, tensor<i32>, tensor<2xi32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @dropout_c2_strides(%x: tensor<8x4xf32>, %k: tensor<2xi32>, %s: tensor<i32>, %o: tensor<2xi32>) {
  // expected-error @+1 {{dropout_c2: 1 strides for rank 2}}
  %0 = par.dropout %x key %k site %s row %s offsets %o {p = 0.5, strides = array<i64: 0>}
      : (tensor<8x4xf32>, tensor<2xi32>, tensor<i32>, tensor<i32>, tensor<2xi32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @dropout_c2_offsets(%x: tensor<8x4xf32>, %k: tensor<2xi32>, %s: tensor<i32>, %o: tensor<3xi32>) {
  // expected-error @+1 {{dropout_c2: offsets is 3, expected 2: an offset per dimension}}
  %0 = par.dropout %x key %k site %s row %s offsets %o {p = 0.5, strides = array<i64: 0, 1>}
      : (tensor<8x4xf32>, tensor<2xi32>, tensor<i32>, tensor<i32>, tensor<3xi32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @dropout_c3(%x: tensor<8x4xf32>, %k: tensor<1xi32>, %s: tensor<i32>, %o: tensor<2xi32>) {
  // expected-error @+1 {{dropout_c3: key is 1, expected 2: two words}}
  %0 = par.dropout %x key %k site %s row %s offsets %o {p = 0.5, strides = array<i64: 0, 1>}
      : (tensor<8x4xf32>, tensor<1xi32>, tensor<i32>, tensor<i32>, tensor<2xi32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @dropout_c4(%x: tensor<8x4xf32>, %k: tensor<2xi32>, %s: tensor<i32>, %o: tensor<2xi32>) {
  // expected-error @+1 {{dropout_c4: result 'tensor<4x8xf32>' differs from the operand 'tensor<8x4xf32>'}}
  %0 = par.dropout %x key %k site %s row %s offsets %o {p = 0.5, strides = array<i64: 0, 1>}
      : (tensor<8x4xf32>, tensor<2xi32>, tensor<i32>, tensor<i32>, tensor<2xi32>) -> tensor<4x8xf32>
  return
}
