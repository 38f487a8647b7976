// RUN: par-opt %s -split-input-file -verify-diagnostics -o /dev/null

func.func @cross_entropy_c1_rank(%x: tensor<f32>, %t: tensor<i32>) {
  // expected-error @+1 {{cross_entropy_c1: logits has rank 0, expected at least 1}}
  %0:2 = par.cross_entropy %x, %t {classes = 1} : (tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @cross_entropy_c1_targets(%x: tensor<8x9xf32>, %t: tensor<7xi32>) {
  // expected-error @+1 {{cross_entropy_c1: targets is 7, expected 8: all but the last dimension of the logits}}
  %0:2 = par.cross_entropy %x, %t {classes = 9} : (tensor<8x9xf32>, tensor<7xi32>) -> (tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @cross_entropy_c1_loss(%x: tensor<8x9xf32>, %t: tensor<8xi32>) {
  // expected-error @+1 {{cross_entropy_c1: loss is a scalar, expected 8}}
  %0:2 = par.cross_entropy %x, %t {classes = 9} : (tensor<8x9xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return
}

// -----

func.func @cross_entropy_c1_types(%x: tensor<8x9xf32>, %t: tensor<8xi32>) {
  // expected-error @+1 {{cross_entropy_c1: loss has elements of type 'f64', lse of type 'f32'; they must be equal}}
  %0:2 = par.cross_entropy %x, %t {classes = 9} : (tensor<8x9xf32>, tensor<8xi32>) -> (tensor<8xf64>, tensor<8xf32>)
  return
}

// -----

func.func @cross_entropy_c2(%x: tensor<8x9xf32>, %t: tensor<8xi32>) {
  // expected-error @+1 {{cross_entropy_c2: classes is 10, expected 1 to the last dimension's size 9}}
  %0:2 = par.cross_entropy %x, %t {classes = 10} : (tensor<8x9xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @cross_entropy_shard_c1_shape(%x: tensor<8x9xf32>, %t: tensor<8xi32>, %o: tensor<i32>) {
  // expected-error @+1 {{cross_entropy_shard_c1: picked is 9, expected 8}}
  %0:2 = par.cross_entropy_shard %x, %t offset %o {classes = 9} : (tensor<8x9xf32>, tensor<8xi32>, tensor<i32>) -> (tensor<8xf32>, tensor<9xf32>)
  return
}

// -----

func.func @cross_entropy_shard_c1_classes(%x: tensor<8x9xf32>, %t: tensor<8xi32>, %o: tensor<i32>) {
  // expected-error @+1 {{cross_entropy_shard_c1: classes is 0, expected more than 0}}
  %0:2 = par.cross_entropy_shard %x, %t offset %o {classes = 0} : (tensor<8x9xf32>, tensor<8xi32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @cross_entropy_backward_c1_result(%d: tensor<8xf32>, %x: tensor<8x9xf32>, %t: tensor<8xi32>) {
  // expected-error @+1 {{cross_entropy_backward_c1: dlogits is 8x8, expected 8x9: the logits' shape}}
  %0 = par.cross_entropy_backward %d, %x, %t, %d {classes = 9} : (tensor<8xf32>, tensor<8x9xf32>, tensor<8xi32>, tensor<8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @cross_entropy_backward_c1_tokens(%d: tensor<9xf32>, %l: tensor<8xf32>, %x: tensor<8x9xf32>, %t: tensor<8xi32>) {
  // expected-error @+1 {{cross_entropy_backward_c1: dloss is 9, expected 8}}
  %0 = par.cross_entropy_backward %d, %x, %t, %l {classes = 9} : (tensor<9xf32>, tensor<8x9xf32>, tensor<8xi32>, tensor<8xf32>) -> tensor<8x9xf32>
  return
}
