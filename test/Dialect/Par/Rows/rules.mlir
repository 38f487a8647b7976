// RUN: par-opt %s -par-print-sharding-rules -verify-diagnostics -o /dev/null

// A table split by rows gives partial sums; what is added to it is a sum over the ids. Elements of rows pass through.
func.func @rows(%ids: tensor<8x16xi32>, %table: tensor<32x4x6xf32>, %o: tensor<i32>) {
  // expected-remark @+1 {{#par.rule<([a, b], [c, d, e])->([a, b, d, e]) {a=8, b=16, c=32, d=4, e=6} reduction={c} linear=[{1}]>}}
  %0 = par.take_rows %ids, %table : (tensor<8x16xi32>, tensor<32x4x6xf32>) -> tensor<8x16x4x6xf32>
  // expected-remark @+1 {{#par.rule<([a, b], [a, b, d, e])->([c, d, e]) {a=8, b=16, c=32, d=4, e=6} reduction={a, b} linear=[{1}]>}}
  %1 = par.add_rows %ids, %0 : (tensor<8x16xi32>, tensor<8x16x4x6xf32>) -> tensor<32x4x6xf32>
  return
}

// An id alone, rows that are numbers, and an offset, which is a scalar.
func.func @numbers(%id: tensor<i32>, %ids: tensor<8xi32>, %table: tensor<32xf32>, %o: tensor<i32>) {
  // expected-remark @+1 {{#par.rule<([], [a])->([]) {a=32} reduction={a} linear=[{1}]>}}
  %0 = par.take_rows %id, %table : (tensor<i32>, tensor<32xf32>) -> tensor<f32>
  // expected-remark @+1 {{#par.rule<([a], [b], [])->([a]) {a=8, b=32} reduction={b} linear=[{1}]>}}
  %1 = par.take_rows %ids, %table offset %o : (tensor<8xi32>, tensor<32xf32>, tensor<i32>) -> tensor<8xf32>
  // expected-remark @+1 {{#par.rule<([a], [a])->([b]) {a=8, b=32} reduction={a} linear=[{1}]>}}
  %2 = par.add_rows %ids, %1 : (tensor<8xi32>, tensor<8xf32>) -> tensor<32xf32>
  return
}
