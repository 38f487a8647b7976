// RUN: par-opt %s -par-print-sharding-rules -verify-diagnostics -o /dev/null

// The vocabulary may be split: forward completes itself, backward passes it through. A shard is already local.
func.func @cross_entropy(%x: tensor<8x4x9xf32>, %t: tensor<8x4xi32>, %o: tensor<i32>) {
  // expected-remark @+1 {{#par.rule<([a, b, c], [a, b])->([a, b], [a, b]) {a=8, b=4, c=9} permutation={c}>}}
  %loss, %lse = par.cross_entropy %x, %t {classes = 7} : (tensor<8x4x9xf32>, tensor<8x4xi32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
  // expected-remark @+1 {{#par.rule<([a, b, c], [a, b], [])->([a, b], [a, b]) {a=8, b=4, c=9} need_replication={c}>}}
  %0:2 = par.cross_entropy_shard %x, %t offset %o {classes = 7} : (tensor<8x4x9xf32>, tensor<8x4xi32>, tensor<i32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
  // expected-remark @+1 {{#par.rule<([a, b], [a, b, c], [a, b], [a, b])->([a, b, c]) {a=8, b=4, c=9} linear=[{0}]>}}
  %1 = par.cross_entropy_backward %loss, %x, %t, %lse {classes = 7}
      : (tensor<8x4xf32>, tensor<8x4x9xf32>, tensor<8x4xi32>, tensor<8x4xf32>) -> tensor<8x4x9xf32>
  return
}

// One token: nothing but the classes.
func.func @one_token(%x: tensor<9xf32>, %t: tensor<i32>) {
  // expected-remark @+1 {{#par.rule<([a], [])->([], []) {a=9} permutation={a}>}}
  %0:2 = par.cross_entropy %x, %t {classes = 7} : (tensor<9xf32>, tensor<i32>) -> (tensor<f32>, tensor<f32>)
  return
}
