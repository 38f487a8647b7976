// RUN: par-opt %s -par-print-sharding-rules -verify-diagnostics -o /dev/null

// A sum gives partial sums where its dimensions are split; a maximum completes itself and is not linear.
func.func @reduce(%x: tensor<8x6x4xf32>) {
  // expected-remark @+1 {{#par.rule<([a, b, c])->([c]) {a=8, b=6, c=4} reduction={a, b} linear=[{0}]>}}
  %0 = par.reduce sum %x dims [0, 1] : tensor<8x6x4xf32> -> tensor<4xf32>
  // expected-remark @+1 {{#par.rule<([a, b, c])->([a, b]) {a=8, b=6, c=4} permutation={c}>}}
  %1 = par.reduce max %x dims [2] : tensor<8x6x4xf32> -> tensor<8x6xf32>
  return
}

func.func @expand(%x: tensor<4xf32>) {
  // expected-remark @+1 {{#par.rule<([c])->([a, b, c]) {a=8, b=6, c=4} linear=[{0}]>}}
  %0 = par.expand %x dims [0, 1] : tensor<4xf32> -> tensor<8x6x4xf32>
  return
}

func.func @reshape(%x: tensor<8x6x4xf32>, %y: tensor<48x4xf32>, %z: tensor<8x6x2xf32>, %u: tensor<3x5x7xf32>, %o: tensor<1x4x1xf32>) {
  // A dimension made of two: the major one comes first.
  // expected-remark @+1 {{#par.rule<([a, b, c])->([a*b, c]) {a=8, b=6, c=4} linear=[{0}]>}}
  %0 = par.reshape %x : tensor<8x6x4xf32> -> tensor<48x4xf32>
  // expected-remark @+1 {{#par.rule<([a*b, c])->([a, b, c]) {a=8, b=6, c=4} linear=[{0}]>}}
  %1 = par.reshape %y : tensor<48x4xf32> -> tensor<8x6x4xf32>
  // Of 6 and 4 the common 2 is the major part of both; the rest, 3·2 against 2·3, is not split. The batch is untouched.
  // expected-remark @+1 {{#par.rule<([a, b*c, f])->([a, b*d, e]) {a=8, b=2, c=3, d=2, e=3, f=2} need_replication={c, d, e, f} linear=[{0}]>}}
  %2 = par.reshape %z : tensor<8x6x2xf32> -> tensor<8x4x3xf32>
  // Nothing in common until the ends meet.
  // expected-remark @+1 {{#par.rule<([a, c, e])->([b, d]) {a=3, b=7, c=5, d=15, e=7} need_replication={a, b, c, d, e} linear=[{0}]>}}
  %3 = par.reshape %u : tensor<3x5x7xf32> -> tensor<7x15xf32>
  // Dimensions of size 1 have no factor.
  // expected-remark @+1 {{#par.rule<([1, a, 1])->([a]) {a=4} linear=[{0}]>}}
  %4 = par.reshape %o : tensor<1x4x1xf32> -> tensor<4xf32>
  return
}

func.func @empty(%x: tensor<0x3xf32>) {
  // expected-remark @+1 {{#par.rule<([a, b])->([c]) {a=0, b=3, c=0} need_replication={a, b, c} linear=[{0}]>}}
  %0 = par.reshape %x : tensor<0x3xf32> -> tensor<0xf32>
  return
}

func.func @transpose(%x: tensor<8x6x4xf32>) {
  // expected-remark @+1 {{#par.rule<([b, c, a])->([a, b, c]) {a=4, b=8, c=6} linear=[{0}]>}}
  %0 = par.transpose %x [2, 0, 1] : tensor<8x6x4xf32> -> tensor<4x8x6xf32>
  return
}

// What is cut, padded or joined is not split.
func.func @boxes(%x: tensor<8x6xf32>, %y: tensor<8x2xf32>) {
  // expected-remark @+1 {{#par.rule<([a, b])->([a, c]) {a=8, b=6, c=4} need_replication={b, c} linear=[{0}]>}}
  %0 = par.slice %x from [0, 1] : tensor<8x6xf32> -> tensor<8x4xf32>
  // expected-remark @+1 {{#par.rule<([a, b])->([a, c]) {a=8, b=6, c=9} need_replication={b, c} linear=[{0}]>}}
  %1 = par.pad %x at [0, 3] : tensor<8x6xf32> -> tensor<8x9xf32>
  // expected-remark @+1 {{#par.rule<([a, c], [a, d])->([a, b]) {a=8, b=8, c=6, d=2} need_replication={b, c, d} linear=[{0, 1}]>}}
  %2 = par.concat %x, %y dim 1 : (tensor<8x6xf32>, tensor<8x2xf32>) -> tensor<8x8xf32>
  return
}

func.func @iota() {
  // expected-remark @+1 {{#par.rule<()->([a, b]) {a=8, b=6}>}}
  %0 = par.iota dim 0 : tensor<8x6xi32>
  return
}
