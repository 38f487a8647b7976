// RUN: par-opt %s -split-input-file -verify-diagnostics
// Tables of rows, caps and windows.

!q = tensor<2x6x2x3x4xf32>
!k = tensor<2x8x2x4xf32>
!lse = tensor<2x2x3x6xf32>

func.func @attention_c2_mixed(%q: !q, %k: !k, %qp: tensor<2x6xi32>, %kp: tensor<8xi32>) {
  // expected-error @+1 {{attention_c2: k_positions is 8, expected 2x8: a position per row of k}}
  %o, %l = par.attention %q, %k, %k positions %qp, %kp {scale = 0.5} : (!q, !k, !k, tensor<2x6xi32>, tensor<8xi32>) -> (!q, !lse)
  return
}

// -----

!q = tensor<2x6x2x3x4xf32>
!k = tensor<2x8x2x4xf32>
!lse = tensor<2x2x3x6xf32>

func.func @attention_c2_entries(%q: !q, %k: !k, %qp: tensor<3x6xi32>, %kp: tensor<2x8xi32>) {
  // expected-error @+1 {{attention_c2: q_positions is 3x6, expected 2x6: a position per row of q}}
  %o, %l = par.attention %q, %k, %k positions %qp, %kp {scale = 0.5} : (!q, !k, !k, tensor<3x6xi32>, tensor<2x8xi32>) -> (!q, !lse)
  return
}

// -----

!q = tensor<2x6x2x3x4xf32>
!k = tensor<2x6x2x4xf32>
!p = tensor<6xi32>

func.func @attention_c5_shape(%q: !q, %k: !k, %p: !p, %d: tensor<2x6xi32>) {
  // expected-error @+1 {{attention_c5: q_documents is 2x6, expected 6: the shape of q_positions}}
  %o, %l = par.attention %q, %k, %k positions %p, %p documents %d, %p {scale = 0.5}
      : (!q, !k, !k, !p, !p, tensor<2x6xi32>, !p) -> (!q, tensor<2x2x3x6xf32>)
  return
}

// -----

!q = tensor<2x6x2x3x4xf32>
!k = tensor<2x6x2x4xf32>
!p = tensor<6xi32>

func.func @attention_c5_one(%q: !q, %k: !k, %p: !p) {
  // expected-error @+1 {{attention_c5: only one of q_documents and k_documents is given, expected both}}
  %o, %l = "par.attention"(%q, %k, %k, %p, %p, %p)
      <{scale = 0.5 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0>}>
      : (!q, !k, !k, !p, !p, !p) -> (!q, tensor<2x2x3x6xf32>)
  return
}

// -----

!q = tensor<2x6x2x3x4xf32>
!k = tensor<2x6x2x4xf32>
!p = tensor<6xi32>

func.func @attention_c6_cap(%q: !q, %k: !k, %p: !p) {
  // expected-error @+1 {{attention_c6: cap is -5.000000e+01, expected 0 or a positive, finite number}}
  %o, %l = par.attention %q, %k, %k positions %p, %p {scale = 0.5, cap = -50.0} : (!q, !k, !k, !p, !p) -> (!q, tensor<2x2x3x6xf32>)
  return
}

// -----

!q = tensor<2x6x2x3x4xf32>
!k = tensor<2x6x2x4xf32>
!p = tensor<6xi32>

func.func @attention_c6_infinite(%q: !q, %k: !k, %p: !p) {
  // expected-error @+1 {{attention_c6: cap is INF, expected 0 or a positive, finite number}}
  %o, %l = par.attention %q, %k, %k positions %p, %p {scale = 0.5, cap = 0x7FF0000000000000 : f64} : (!q, !k, !k, !p, !p) -> (!q, tensor<2x2x3x6xf32>)
  return
}

// -----

!q = tensor<2x6x2x3x4xf32>
!k = tensor<2x6x2x4xf32>
!p = tensor<6xi32>

func.func @attention_c6_window(%q: !q, %k: !k, %p: !p) {
  // expected-error @+1 {{attention_c6: window is -1, expected 0 or more}}
  %o, %l = par.attention %q, %k, %k positions %p, %p {scale = 0.5, window = -1} : (!q, !k, !k, !p, !p) -> (!q, tensor<2x2x3x6xf32>)
  return
}

// -----

!q = tensor<2x6x2x3x4xf32>
!k = tensor<2x6x2x4xf32>
!p = tensor<6xi32>

func.func @attention_backward_c1_documents(%q: !q, %k: !k, %l: tensor<2x2x3x6xf32>, %p: !p, %d: tensor<7xi32>) {
  // expected-error @+1 {{attention_backward_c1: k_documents is 7, expected 6: the shape of k_positions}}
  %dq, %dk, %dv = par.attention_backward %q, %q, %k, %k, %q, %l positions %p, %p documents %p, %d {scale = 0.5}
      : (!q, !q, !k, !k, !q, tensor<2x2x3x6xf32>, !p, !p, !p, tensor<7xi32>) -> (!q, !k, !k)
  return
}
