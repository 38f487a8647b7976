// RUN: par-opt %s -par-print-sharding-rules -verify-diagnostics -o /dev/null
// Tables of each entry of the batch, sinks, and values of another size than keys.

!q = tensor<2x6x4x3x8xf32>
!k = tensor<2x5x4x8xf32>
!v = tensor<2x5x4x9xf32>
!out = tensor<2x6x4x3x9xf32>
!lse = tensor<2x4x3x6xf32>

func.func @attention(%q: !q, %k: !k, %v: !v, %qp: tensor<2x6xi32>, %kp: tensor<2x5xi32>, %sinks: tensor<4x3xf32>) {
  // Tables are split with the batch and with rows of q; sinks with heads. Values need replication as keys do.
  // expected-remark @+1 {{#par.rule<([a, b, c, d, e], [a, f, c, e], [a, f, c, g], [a, b], [a, f], [a, b], [a, f], [c, d])->([a, b, c, d, g], [a, c, d, b]) {a=2, b=6, c=4, d=3, e=8, f=5, g=9} need_replication={e, f, g}>}}
  %out, %lse = par.attention %q, %k, %v positions %qp, %kp documents %qp, %kp sinks %sinks {scale = 0.5}
      : (!q, !k, !v, tensor<2x6xi32>, tensor<2x5xi32>, tensor<2x6xi32>, tensor<2x5xi32>, tensor<4x3xf32>) -> (!out, !lse)
  // expected-remark @+1 {{#par.rule<([a, b, c, d, g], [a, b, c, d, e], [a, f, c, e], [a, f, c, g], [a, b, c, d, g], [a, c, d, b], [a, b], [a, f], [a, b], [a, f])->([a, b, c, d, e], [a, f, c, e], [a, f, c, g]) {a=2, b=6, c=4, d=3, e=8, f=5, g=9} reduction={b, d} need_replication={e, f, g} linear=[{0}]>}}
  %dq, %dk, %dv = par.attention_backward %out, %q, %k, %v, %out, %lse positions %qp, %kp documents %qp, %kp {scale = 0.5, sinks}
      : (!out, !q, !k, !v, !out, !lse, tensor<2x6xi32>, tensor<2x5xi32>, tensor<2x6xi32>, tensor<2x5xi32>) -> (!q, !k, !v)
  return
}
