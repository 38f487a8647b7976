// RUN: par-opt %s -par-print-sharding-rules -verify-diagnostics -o /dev/null

!q = tensor<2x6x4x3x8xf32>
!k = tensor<2x5x4x8xf32>
!lse = tensor<2x4x3x6xf32>

func.func @attention(%q: !q, %k: !k, %qp: tensor<6xi32>, %kp: tensor<5xi32>, %key: tensor<2xi32>, %s: tensor<i32>, %o: tensor<5xi32>) {
  // Batch, rows of q, kv heads and groups are split freely; lse is not linear in v, so no set is.
  // expected-remark @+1 {{#par.rule<([a, b, c, d, e], [a, f, c, e], [a, f, c, e], [b], [f])->([a, b, c, d, e], [a, c, d, b]) {a=2, b=6, c=4, d=3, e=8, f=5} need_replication={e, f}>}}
  %out, %lse = par.attention %q, %k, %k positions %qp, %kp {scale = 0.5} : (!q, !k, !k, tensor<6xi32>, tensor<5xi32>) -> (!q, !lse)
  // The gradients of k and v are sums over rows of q and groups.
  // expected-remark @+1 {{#par.rule<([a, b, c, d, e], [a, b, c, d, e], [a, f, c, e], [a, f, c, e], [a, b, c, d, e], [a, c, d, b], [b], [f])->([a, b, c, d, e], [a, f, c, e], [a, f, c, e]) {a=2, b=6, c=4, d=3, e=8, f=5} reduction={b, d} need_replication={e, f} linear=[{0}]>}}
  %dq, %dk, %dv = par.attention_backward %q, %q, %k, %k, %out, %lse positions %qp, %kp {scale = 0.5}
      : (!q, !q, !k, !k, !q, !lse, tensor<6xi32>, tensor<5xi32>) -> (!q, !k, !k)
  // The operands of dropout are whole on every rank.
  // expected-remark @+1 {{#par.rule<([a, b, c, d, e], [a, f, c, e], [a, f, c, e], [b], [f], [g], [], [], [h])->([a, b, c, d, e], [a, c, d, b]) {a=2, b=6, c=4, d=3, e=8, f=5, g=2, h=5} need_replication={e, f, g, h}>}}
  %out2, %lse2 = par.attention %q, %k, %k positions %qp, %kp dropout %key site %s row %s offsets %o
      {scale = 0.5, dropout = 0.1, strides = array<i64: 0, 60, 15, 5, 1>}
      : (!q, !k, !k, tensor<6xi32>, tensor<5xi32>, tensor<2xi32>, tensor<i32>, tensor<i32>, tensor<5xi32>) -> (!q, !lse)
  return
}
