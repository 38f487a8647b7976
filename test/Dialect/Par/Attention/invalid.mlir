// RUN: par-opt %s -split-input-file -verify-diagnostics

!q = tensor<2x6x2x3x4xf32>
!k = tensor<2x6x2x4xf32>
!lse = tensor<2x2x3x6xf32>
!p = tensor<6xi32>

func.func @attention_c1_rank(%q: tensor<2x6x2x4xf32>, %k: !k, %p: !p) {
  // expected-error @+1 {{attention_c1: q is 2x6x2x4, expected [batch, q rows, kv_heads, group, head_dim]}}
  %o, %l = par.attention %q, %k, %k positions %p, %p {scale = 0.5} : (tensor<2x6x2x4xf32>, !k, !k, !p, !p) -> (tensor<2x6x2x4xf32>, !lse)
  return
}

// -----

!q = tensor<2x6x2x3x4xf32>
!k = tensor<2x6x3x4xf32>
!lse = tensor<2x2x3x6xf32>
!p = tensor<6xi32>

func.func @attention_c1_heads(%q: !q, %k: !k, %p: !p) {
  // expected-error @+1 {{attention_c1: k is 2x6x3x4, expected 2x6x2x4: batch, kv_heads and head_dim are those of q}}
  %o, %l = par.attention %q, %k, %k positions %p, %p {scale = 0.5} : (!q, !k, !k, !p, !p) -> (!q, !lse)
  return
}

// -----

!q = tensor<2x6x2x3x4xf32>
!k = tensor<2x6x2x4xf32>
!lse = tensor<2x6x2x3xf32>
!p = tensor<6xi32>

func.func @attention_c1_lse(%q: !q, %k: !k, %p: !p) {
  // expected-error @+1 {{attention_c1: lse is 2x6x2x3, expected 2x2x3x6: [batch, kv_heads, group, q rows]}}
  %o, %l = par.attention %q, %k, %k positions %p, %p {scale = 0.5} : (!q, !k, !k, !p, !p) -> (!q, !lse)
  return
}

// -----

!q = tensor<2x6x2x3x4xf32>
!k = tensor<2x8x2x4xf32>
!lse = tensor<2x2x3x6xf32>
!p = tensor<6xi32>

func.func @attention_c2(%q: !q, %k: !k, %p: !p) {
  // expected-error @+1 {{attention_c2: k_positions is 6, expected 8: a position per row of k}}
  %o, %l = par.attention %q, %k, %k positions %p, %p {scale = 0.5} : (!q, !k, !k, !p, !p) -> (!q, !lse)
  return
}

// -----

!q = tensor<2x6x2x3x4xf32>
!k = tensor<2x6x2x4xf32>
!lse = tensor<2x2x3x6xf32>
!p = tensor<6xi32>

func.func @attention_c3_absent(%q: !q, %k: !k, %p: !p) {
  // expected-error @+1 {{attention_c3: 0 of key, site, row and offsets are given, expected 4 with dropout}}
  %o, %l = par.attention %q, %k, %k positions %p, %p {scale = 0.5, dropout = 0.1} : (!q, !k, !k, !p, !p) -> (!q, !lse)
  return
}

// -----

!q = tensor<2x6x2x3x4xf32>
!k = tensor<2x6x2x4xf32>
!lse = tensor<2x2x3x6xf32>
!p = tensor<6xi32>

func.func @attention_c3_range(%q: !q, %k: !k, %p: !p) {
  // expected-error @+1 {{attention_c3: dropout is 1.000000e+00, expected 0 <= dropout < 1}}
  %o, %l = par.attention %q, %k, %k positions %p, %p {scale = 0.5, dropout = 1.0} : (!q, !k, !k, !p, !p) -> (!q, !lse)
  return
}

// -----

!q = tensor<2x6x2x3x4xf32>
!k = tensor<2x6x2x4xf32>
!lse = tensor<2x2x3x6xf32>
!p = tensor<6xi32>

func.func @attention_c3_strides(%q: !q, %k: !k, %p: !p, %key: tensor<2xi32>, %s: tensor<i32>, %o: tensor<5xi32>) {
  // expected-error @+1 {{attention_c3: 2 strides, expected 5: batch, q rows, kv_heads, group, k rows}}
  %out, %l = par.attention %q, %k, %k positions %p, %p dropout %key site %s row %s offsets %o
      {scale = 0.5, dropout = 0.1, strides = array<i64: 1, 2>}
      : (!q, !k, !k, !p, !p, tensor<2xi32>, tensor<i32>, tensor<i32>, tensor<5xi32>) -> (!q, !lse)
  return
}

// -----

!q = tensor<2x6x2x3x4xf32>
!k = tensor<2x6x2x4xf32>
!lse = tensor<2x2x3x6xf32>
!p = tensor<6xi32>

func.func @attention_backward_c1(%q: !q, %k: !k, %l: !lse, %p: !p) {
  // expected-error @+1 {{attention_backward_c1: dk is 2x6x4, expected 2x6x2x4: the shape of k}}
  %dq, %dk, %dv = par.attention_backward %q, %q, %k, %k, %q, %l positions %p, %p {scale = 0.5}
      : (!q, !q, !k, !k, !q, !lse, !p, !p) -> (!q, tensor<2x6x4xf32>, !k)
  return
}

// -----

func.func @diagonal(%q: tensor<1x4x1x1x8xf32>, %k: tensor<1x8x1x8xf32>, %qp: tensor<4xi32>, %kp: tensor<8xi32>) {
  // expected-error @+1 {{attention_c4: `diagonal` with 4 rows of q and 8 of k, expected as many}}
  %out, %lse = par.attention %q, %k, %k positions %qp, %kp {scale = 0.25 : f64, diagonal}
      : (tensor<1x4x1x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<4xi32>, tensor<8xi32>) -> (tensor<1x4x1x1x8xf32>, tensor<1x1x1x4xf32>)
  return
}

// -----

!q = tensor<2x6x2x3x4xf32>
!k = tensor<2x6x2x4xf32>
!p = tensor<2x6xi32>

func.func @diagonal_per_entry(%q: !q, %k: !k, %p: !p) {
  // expected-error @+1 {{attention_c4: `diagonal` with positions of each entry of the batch, expected positions for all of it alone}}
  %o, %l = par.attention %q, %k, %k positions %p, %p {scale = 0.5, diagonal} : (!q, !k, !k, !p, !p) -> (!q, tensor<2x2x3x6xf32>)
  return
}

// -----

!q = tensor<2x6x2x3x4xf32>
!k = tensor<2x6x2x4xf32>
!p = tensor<6xi32>

func.func @diagonal_documents(%q: !q, %k: !k, %p: !p) {
  // expected-error @+1 {{attention_c4: `diagonal` with documents, expected positions for all of it alone}}
  %o, %l = par.attention %q, %k, %k positions %p, %p documents %p, %p {scale = 0.5, diagonal}
      : (!q, !k, !k, !p, !p, !p, !p) -> (!q, tensor<2x2x3x6xf32>)
  return
}
