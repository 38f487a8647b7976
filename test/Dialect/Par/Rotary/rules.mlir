// RUN: par-opt %s -par-print-sharding-rules -verify-diagnostics -o /dev/null

// A shard of the sequence comes with its positions.
func.func @rotary(%x: tensor<8x16x2x4xf32>, %p: tensor<16xi32>) {
  // expected-remark @+1 {{#par.rule<([a, b, c, d], [b])->([a, b, c, d]) {a=8, b=16, c=2, d=4} need_replication={d} linear=[{0}]>}}
  %y = par.rotary %x, %p {frequencies = array<f64: 1.0, 0.1>} : (tensor<8x16x2x4xf32>, tensor<16xi32>) -> tensor<8x16x2x4xf32>
  return
}

func.func @by_tables(%x: tensor<8x16x2x4xf32>, %p: tensor<16xi32>) {
  // expected-remark @+1 {{#par.rule<([a])->([a, b], [a, b]) {a=16, b=2} need_replication={b}>}}
  %c, %s = par.rotary_tables %p {frequencies = array<f64: 1.0, 0.1>} : (tensor<16xi32>) -> (tensor<16x2xf32>, tensor<16x2xf32>)
  // expected-remark @+1 {{#par.rule<([a, b, c, d], [b, e], [b, e])->([a, b, c, d]) {a=8, b=16, c=2, d=4, e=2} need_replication={d, e} linear=[{0}]>}}
  %y = par.rotate %x, %c, %s : (tensor<8x16x2x4xf32>, tensor<16x2xf32>, tensor<16x2xf32>) -> tensor<8x16x2x4xf32>
  return
}

// Positions of each entry of the batch are split with it.
func.func @entries(%x: tensor<8x16x2x4xf32>, %p: tensor<8x16xi32>) {
  // expected-remark @+1 {{#par.rule<([a, b, c, d], [a, b])->([a, b, c, d]) {a=8, b=16, c=2, d=4} need_replication={d} linear=[{0}]>}}
  %y = par.rotary %x, %p {frequencies = array<f64: 1.0>} : (tensor<8x16x2x4xf32>, tensor<8x16xi32>) -> tensor<8x16x2x4xf32>
  // expected-remark @+1 {{#par.rule<([a, b])->([a, b, c], [a, b, c]) {a=8, b=16, c=1} need_replication={c}>}}
  %c, %s = par.rotary_tables %p {frequencies = array<f64: 1.0>} : (tensor<8x16xi32>) -> (tensor<8x16x1xf32>, tensor<8x16x1xf32>)
  // expected-remark @+1 {{#par.rule<([a, b, c, d], [a, b, e], [a, b, e])->([a, b, c, d]) {a=8, b=16, c=2, d=4, e=1} need_replication={d, e} linear=[{0}]>}}
  %z = par.rotate %x, %c, %s : (tensor<8x16x2x4xf32>, tensor<8x16x1xf32>, tensor<8x16x1xf32>) -> tensor<8x16x2x4xf32>
  return
}
