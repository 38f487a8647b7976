// RUN: par-opt %s -par-print-sharding-rules -verify-diagnostics -o /dev/null

// A table split by rows gives partial sums; its gradient is a sum over the tokens.
func.func @embedding(%ids: tensor<8x16xi32>, %table: tensor<32x4xf32>, %o: tensor<i32>) {
  // expected-remark @+1 {{#par.rule<([a, b], [c, d])->([a, b, d]) {a=8, b=16, c=32, d=4} reduction={c} linear=[{1}]>}}
  %0 = par.embedding %ids, %table : (tensor<8x16xi32>, tensor<32x4xf32>) -> tensor<8x16x4xf32>
  // expected-remark @+1 {{#par.rule<([a, b], [a, b, d])->([c, d]) {a=8, b=16, c=32, d=4} reduction={a, b} linear=[{1}]>}}
  %1 = par.embedding_backward %ids, %0 : (tensor<8x16xi32>, tensor<8x16x4xf32>) -> tensor<32x4xf32>
  // The offset is a scalar.
  // expected-remark @+1 {{#par.rule<([a, b], [c, d], [])->([a, b, d]) {a=8, b=16, c=32, d=4} reduction={c} linear=[{1}]>}}
  %2 = par.embedding %ids, %table offset %o : (tensor<8x16xi32>, tensor<32x4xf32>, tensor<i32>) -> tensor<8x16x4xf32>
  return
}
