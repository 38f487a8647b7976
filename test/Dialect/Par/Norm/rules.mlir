// RUN: par-opt %s -par-print-sharding-rules -verify-diagnostics -o /dev/null

func.func @norms(%x: tensor<8x16x64xf32>, %w: tensor<64xf32>) {
  // The last dimension is never split; not linear.
  // expected-remark @+1 {{#par.rule<([a, b, c], [c])->([a, b, c], [a, b]) {a=8, b=16, c=64} need_replication={c}>}}
  %y, %r = par.rms_norm %x, %w {eps = 1.0e-5} : (tensor<8x16x64xf32>, tensor<64xf32>) -> (tensor<8x16x64xf32>, tensor<8x16xf32>)
  // The weight's gradient is a sum over batch and sequence; linear in dy.
  // expected-remark @+1 {{#par.rule<([a, b, c], [a, b, c], [c], [a, b])->([a, b, c], [c]) {a=8, b=16, c=64} reduction={a, b} need_replication={c} linear=[{0}]>}}
  %dx, %dw = par.rms_norm_backward %y, %x, %w, %r : (tensor<8x16x64xf32>, tensor<8x16x64xf32>, tensor<64xf32>, tensor<8x16xf32>) -> (tensor<8x16x64xf32>, tensor<64xf32>)
  // expected-remark @+1 {{#par.rule<([a, b, c], [c], [c])->([a, b, c], [a, b], [a, b]) {a=8, b=16, c=64} need_replication={c}>}}
  %z, %m, %s = par.layer_norm %x, %w, %w {eps = 1.0e-5} : (tensor<8x16x64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<8x16x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>)
  // expected-remark @+1 {{#par.rule<([a, b, c], [a, b, c], [c], [a, b], [a, b])->([a, b, c], [c], [c]) {a=8, b=16, c=64} reduction={a, b} need_replication={c} linear=[{0}]>}}
  %a, %b, %c = par.layer_norm_backward %z, %x, %w, %m, %s : (tensor<8x16x64xf32>, tensor<8x16x64xf32>, tensor<64xf32>, tensor<8x16xf32>, tensor<8x16xf32>) -> (tensor<8x16x64xf32>, tensor<64xf32>, tensor<64xf32>)
  // expected-remark @+1 {{#par.rule<([a, b, c])->([a, b, c], [a, b], [a, b]) {a=8, b=16, c=64} need_replication={c}>}}
  %u, %n, %t = par.standardize %x {eps = 1.0e-5} : (tensor<8x16x64xf32>) -> (tensor<8x16x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>)
  // Nothing is summed where there are no parameters.
  // expected-remark @+1 {{#par.rule<([a, b, c], [a, b, c], [a, b], [a, b])->([a, b, c]) {a=8, b=16, c=64} need_replication={c} linear=[{0}]>}}
  %d = par.standardize_backward %u, %x, %n, %t : (tensor<8x16x64xf32>, tensor<8x16x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16x64xf32>
  return
}

// Of several normalised dimensions all but the last may be split: sums of squares are exchanged.
func.func @heads(%x: tensor<8x16x2x4xf32>, %w: tensor<2x4xf32>) {
  // expected-remark @+1 {{#par.rule<([a, b, c, d], [c, d])->([a, b, c, d], [a, b]) {a=8, b=16, c=2, d=4} need_replication={d} permutation={c}>}}
  %y, %r = par.rms_norm %x, %w {eps = 1.0e-5, count = 8} : (tensor<8x16x2x4xf32>, tensor<2x4xf32>) -> (tensor<8x16x2x4xf32>, tensor<8x16xf32>)
  // expected-remark @+1 {{#par.rule<([a, b, c, d], [a, b, c, d], [c, d], [a, b])->([a, b, c, d], [c, d]) {a=8, b=16, c=2, d=4} reduction={a, b} need_replication={d} permutation={c} linear=[{0}]>}}
  %dx, %dw = par.rms_norm_backward %y, %x, %w, %r {count = 8} : (tensor<8x16x2x4xf32>, tensor<8x16x2x4xf32>, tensor<2x4xf32>, tensor<8x16xf32>) -> (tensor<8x16x2x4xf32>, tensor<2x4xf32>)
  return
}
