// RUN: par-opt %s -split-input-file -verify-diagnostics
// Values of another size than keys, and sinks.

!q = tensor<2x6x2x3x4xf32>
!k = tensor<2x6x2x4xf32>
!p = tensor<6xi32>

func.func @attention_c1_values(%q: !q, %k: !k, %v: tensor<2x7x2x5xf32>, %p: !p) {
  // expected-error @+1 {{attention_c1: v is 2x7x2x5, expected 2x6x2x5: the shape of k but for the last dimension}}
  %o, %l = par.attention %q, %k, %v positions %p, %p {scale = 0.5}
      : (!q, !k, tensor<2x7x2x5xf32>, !p, !p) -> (tensor<2x6x2x3x5xf32>, tensor<2x2x3x6xf32>)
  return
}

// -----

!q = tensor<2x6x2x3x4xf32>
!k = tensor<2x6x2x4xf32>
!p = tensor<6xi32>

func.func @attention_c1_out(%q: !q, %k: !k, %v: tensor<2x6x2x5xf32>, %p: !p) {
  // expected-error @+1 {{attention_c1: out is 2x6x2x3x4, expected 2x6x2x3x5: the shape of q with the last dimension of v}}
  %o, %l = par.attention %q, %k, %v positions %p, %p {scale = 0.5}
      : (!q, !k, tensor<2x6x2x5xf32>, !p, !p) -> (!q, tensor<2x2x3x6xf32>)
  return
}

// -----

!q = tensor<2x6x2x3x4xf32>
!k = tensor<2x6x2x4xf32>
!p = tensor<6xi32>

func.func @attention_c1_sinks(%q: !q, %k: !k, %p: !p, %s: tensor<6xf32>) {
  // expected-error @+1 {{attention_c1: sinks is 6, expected 2x3: [kv_heads, group]}}
  %o, %l = par.attention %q, %k, %k positions %p, %p sinks %s {scale = 0.5}
      : (!q, !k, !k, !p, !p, tensor<6xf32>) -> (!q, tensor<2x2x3x6xf32>)
  return
}

// -----

!q = tensor<2x6x2x3x4xf32>
!k = tensor<2x6x2x4xf32>
!v = tensor<2x6x2x5xf32>
!p = tensor<6xi32>

func.func @attention_backward_c1_dout(%q: !q, %k: !k, %v: !v, %o: tensor<2x6x2x3x5xf32>, %l: tensor<2x2x3x6xf32>, %p: !p) {
  // expected-error @+1 {{attention_backward_c1: dout is 2x6x2x3x4, expected 2x6x2x3x5: the shape of q with the last dimension of v}}
  %dq, %dk, %dv = par.attention_backward %q, %q, %k, %v, %o, %l positions %p, %p {scale = 0.5}
      : (!q, !q, !k, !v, tensor<2x6x2x3x5xf32>, tensor<2x2x3x6xf32>, !p, !p) -> (!q, !k, !v)
  return
}
