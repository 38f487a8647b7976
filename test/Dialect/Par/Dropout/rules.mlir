// RUN: par-opt %s -par-print-sharding-rules -verify-diagnostics -o /dev/null

// Every dimension may be split; key and offsets are whole on every rank.
func.func @dropout(%x: tensor<8x4xf32>, %key: tensor<2xi32>, %site: tensor<i32>, %o: tensor<2xi32>) {
  // expected-remark @+1 {{#par.rule<([a, b], [c], [], [], [d])->([a, b]) {a=8, b=4, c=2, d=2} need_replication={c, d} linear=[{0}]>}}
  %0 = par.dropout %x key %key site %site row %site offsets %o {p = 0.1, strides = array<i64: 0, 1>}
      : (tensor<8x4xf32>, tensor<2xi32>, tensor<i32>, tensor<i32>, tensor<2xi32>) -> tensor<8x4xf32>
  return
}
