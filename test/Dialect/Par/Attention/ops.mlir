// RUN: par-opt %s --verify-roundtrip | par-opt | FileCheck %s

!q = tensor<8x16x2x3x4xf32>
!k = tensor<8x16x2x4xf32>
!lse = tensor<8x2x3x16xf32>
!p = tensor<16xi32>

// CHECK-LABEL: func.func @causal
func.func @causal(%q: !q, %k: !k, %p: !p, %dout: !q) -> (!q, !k, !k) {
  // CHECK: %[[OUT:.*]], %[[LSE:.*]] = par.attention %{{.*}}, %{{.*}}, %{{.*}} positions %{{.*}}, %{{.*}} {causal, scale = 2.500000e-01 : f64} :
  %out, %lse = par.attention %q, %k, %k positions %p, %p {scale = 0.25, causal} : (!q, !k, !k, !p, !p) -> (!q, !lse)
  // CHECK: par.attention_backward %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[OUT]], %[[LSE]] positions
  %dq, %dk, %dv = par.attention_backward %dout, %q, %k, %k, %out, %lse positions %p, %p {scale = 0.25, causal}
      : (!q, !q, !k, !k, !q, !lse, !p, !p) -> (!q, !k, !k)
  return %dq, %dk, %dv : !q, !k, !k
}

// CHECK-LABEL: func.func @dropout
func.func @dropout(%q: !q, %k: !k, %p: !p, %key: tensor<2xi32>, %s: tensor<i32>, %o: tensor<5xi32>) -> !q {
  // CHECK: par.attention {{.*}} dropout %[[KEY:.*]] site %{{.*}} row %{{.*}} offsets %{{.*}} {dropout = 1.000000e-01 : f64, scale = 2.500000e-01 : f64, strides = array<i64: 0, 96, 48, 16, 1>, window = 5 : i64}
  %out, %lse = par.attention %q, %k, %k positions %p, %p dropout %key site %s row %s offsets %o
      {scale = 0.25, window = 5 : i64, dropout = 0.1, strides = array<i64: 0, 96, 48, 16, 1>}
      : (!q, !k, !k, !p, !p, tensor<2xi32>, tensor<i32>, tensor<i32>, tensor<5xi32>) -> (!q, !lse)
  // CHECK: par.attention_backward {{.*}} dropout %[[KEY]] site
  %dq, %dk, %dv = par.attention_backward %out, %q, %k, %k, %out, %lse positions %p, %p dropout %key site %s row %s offsets %o
      {scale = 0.25, window = 5 : i64, dropout = 0.1, strides = array<i64: 0, 96, 48, 16, 1>}
      : (!q, !q, !k, !k, !q, !lse, !p, !p, tensor<2xi32>, tensor<i32>, tensor<i32>, tensor<5xi32>) -> (!q, !k, !k)
  return %dq : !q
}

!v = tensor<8x16x2x6xf32>
!out = tensor<8x16x2x3x6xf32>
!rows = tensor<8x16xi32>

// CHECK-LABEL: func.func @documents_and_sinks
func.func @documents_and_sinks(%q: !q, %k: !k, %v: !v, %p: !rows, %d: !rows, %sinks: tensor<2x3xf32>) -> (!q, !k, !v) {
  // CHECK: par.attention %{{.*}}, %{{.*}}, %{{.*}} positions %[[P:.*]], %[[P]] documents %[[D:.*]], %[[D]] sinks %{{.*}} {cap = 5.000000e+01 : f64, scale = 2.500000e-01 : f64} :
  %out, %lse = par.attention %q, %k, %v positions %p, %p documents %d, %d sinks %sinks {scale = 0.25, cap = 50.0}
      : (!q, !k, !v, !rows, !rows, !rows, !rows, tensor<2x3xf32>) -> (!out, !lse)
  // CHECK: par.attention_backward {{.*}} positions %[[P]], %[[P]] documents %[[D]], %[[D]] {cap = 5.000000e+01 : f64, scale = 2.500000e-01 : f64, sinks} :
  %dq, %dk, %dv = par.attention_backward %out, %q, %k, %v, %out, %lse positions %p, %p documents %d, %d {scale = 0.25, cap = 50.0, sinks}
      : (!out, !q, !k, !v, !out, !lse, !rows, !rows, !rows, !rows) -> (!q, !k, !v)
  return %dq, %dk, %dv : !q, !k, !v
}
