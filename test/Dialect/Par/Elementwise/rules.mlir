// RUN: par-opt %s -par-print-sharding-rules -verify-diagnostics -o /dev/null

// A pending sum passes through an addition only if both operands are pending, through a product on either side, through a quotient above.
func.func @linear(%x: tensor<4x2xf32>, %y: tensor<4x2xf32>, %c: tensor<4x2xi1>) {
  // expected-remark @+1 {{#par.rule<([a, b], [a, b])->([a, b]) {a=4, b=2} linear=[{0, 1}]>}}
  %0 = arith.addf %x, %y : tensor<4x2xf32>
  // expected-remark @+1 {{{a=4, b=2} linear=[{0, 1}]>}}
  %1 = arith.subf %x, %y : tensor<4x2xf32>
  // expected-remark @+1 {{{a=4, b=2} linear=[{0}, {1}]>}}
  %2 = arith.mulf %x, %y : tensor<4x2xf32>
  // expected-remark @+1 {{{a=4, b=2} linear=[{0}]>}}
  %3 = arith.divf %x, %y : tensor<4x2xf32>
  // expected-remark @+1 {{#par.rule<([a, b])->([a, b]) {a=4, b=2} linear=[{0}]>}}
  %4 = arith.negf %x : tensor<4x2xf32>
  // expected-remark @+1 {{{a=4, b=2} linear=[{0}]>}}
  %5 = arith.truncf %x : tensor<4x2xf32> to tensor<4x2xbf16>
  // expected-remark @+1 {{{a=4, b=2} linear=[{0}]>}}
  %6 = arith.extf %x : tensor<4x2xf32> to tensor<4x2xf64>
  // expected-remark @+1 {{#par.rule<([a, b], [a, b], [a, b])->([a, b]) {a=4, b=2} linear=[{1, 2}]>}}
  %7 = arith.select %c, %x, %y : tensor<4x2xi1>, tensor<4x2xf32>
  return
}

// No pending sum passes through any of these.
func.func @not_linear(%x: tensor<4x2xf32>, %i: tensor<4x2xi32>) {
  // expected-remark @+1 {{#par.rule<([a, b], [a, b])->([a, b]) {a=4, b=2}>}}
  %0 = arith.maximumf %x, %x : tensor<4x2xf32>
  // expected-remark @+1 {{#par.rule<([a, b], [a, b])->([a, b]) {a=4, b=2}>}}
  %1 = arith.cmpf olt, %x, %x : tensor<4x2xf32>
  // expected-remark @+1 {{#par.rule<([a, b])->([a, b]) {a=4, b=2}>}}
  %2 = math.tanh %x : tensor<4x2xf32>
  // expected-remark @+1 {{#par.rule<([a, b], [a, b])->([a, b]) {a=4, b=2}>}}
  %3 = math.powf %x, %x : tensor<4x2xf32>
  // expected-remark @+1 {{#par.rule<([a, b], [a, b])->([a, b]) {a=4, b=2}>}}
  %4 = arith.addi %i, %i : tensor<4x2xi32>
  // expected-remark @+1 {{#par.rule<([a, b])->([a, b]) {a=4, b=2}>}}
  %5 = arith.sitofp %i : tensor<4x2xi32> to tensor<4x2xf32>
  // expected-remark @+1 {{#par.rule<([a, b])->([a, b]) {a=4, b=2}>}}
  %6 = par.sigmoid %x : tensor<4x2xf32>
  return
}

// Only a splat looks the same on every rank.
func.func @constants() {
  // expected-remark @+1 {{#par.rule<()->([a, b]) {a=4, b=2}>}}
  %0 = arith.constant dense<1.0> : tensor<4x2xf32>
  // expected-remark @+1 {{#par.rule<()->([a]) {a=3} need_replication={a}>}}
  %1 = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  return
}
