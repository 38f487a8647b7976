// RUN: par-opt %s -par-print-sharding-rules -verify-diagnostics -o /dev/null

// Letters that the result lacks are reductions; linear in every operand alone.
func.func @einsum(%x: tensor<8x128x64xf32>, %w: tensor<256x64xf32>, %q: tensor<2x4x6x8xf32>, %v: tensor<64xf32>) {
  // expected-remark @+1 {{#par.rule<([a, b, c], [d, c])->([a, b, d]) {a=8, b=128, c=64, d=256} reduction={c} linear=[{0}, {1}]>}}
  %0 = par.einsum "bse,me->bsm"(%x, %w) : (tensor<8x128x64xf32>, tensor<256x64xf32>) -> tensor<8x128x256xf32>
  // expected-remark @+1 {{#par.rule<([a, b, c, d], [a, b, e, d])->([a, b, c, e]) {a=2, b=4, c=6, d=8, e=6} reduction={d} linear=[{0}, {1}]>}}
  %1 = par.einsum "bhqd,bhkd->bhqk"(%q, %q) : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x6xf32>
  // expected-remark @+1 {{#par.rule<([a, b, c], [d, c], [c])->([d]) {a=8, b=128, c=64, d=256} reduction={a, b, c} linear=[{0}, {1}, {2}]>}}
  %2 = par.einsum "bse,me,e->m"(%x, %w, %v) : (tensor<8x128x64xf32>, tensor<256x64xf32>, tensor<64xf32>) -> tensor<256xf32>
  return
}
