// RUN: par-opt %s -par-print-sharding-rules -verify-diagnostics -o /dev/null

func.func @softmax(%x: tensor<8x16xf32>) {
  // expected-remark @+1 {{#par.rule<([a, b])->([a, b]) {a=8, b=16} need_replication={b}>}}
  %y = par.softmax %x : tensor<8x16xf32>
  // expected-remark @+1 {{#par.rule<([a, b], [a, b])->([a, b]) {a=8, b=16} need_replication={b} linear=[{0}]>}}
  %dx = par.softmax_backward %x, %y : tensor<8x16xf32>
  return
}
