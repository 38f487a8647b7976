// RUN: par-opt %s -par-build-evaluation -split-input-file -verify-roundtrip | FileCheck %s

// Dropout is gone from the chunk, from the layer that has some and from attention, and with it what only dropout used; shardings stay.
// The layer without dropout is shared, and training keeps all that it had.
// CHECK-LABEL: func.func private @plain(
// CHECK-LABEL: func.func private @layer(
// CHECK: par.dropout
// CHECK-LABEL: func.func private @layer.eval(
// CHECK-SAME: %[[X:.*]]: tensor<2x4xf32> {par.sharding = #par.sharding<@mesh, [{"dp"}, {}]>}, %[[W:.*]]: tensor<4x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: %[[Y:.*]] = par.einsum "be,me->bm"(%[[X]], %[[W]])
// CHECK-NEXT: return %[[Y]]
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: par.place = #par.place<input dropout_key>
// CHECK: par.call @layer(
// CHECK: par.call @plain(
// CHECK-LABEL: func.func @eval(
// CHECK-SAME: %[[T:[a-z0-9]+]]: tensor<2x4xf32>, %[[V:[a-z0-9]+]]: tensor<4x4xf32> {par.place = #par.place<variable @w>})
// CHECK-SAME: -> (tensor<f32> {par.place = #par.place<output eval_loss>}) attributes {par.phase = #par.phase<eval, chunk = 0>}
// CHECK-NEXT: %[[A:.*]] = par.call @layer.eval(%[[T]], %[[V]])
// CHECK-NEXT: %[[B:.*]] = par.call @plain(%[[A]], %[[V]])
// CHECK-NEXT: par.reduce sum %[[B]]
par.mesh @mesh <["dp"=2]>
par.variable @w : tensor<4x4xf32> dims ["mlp", "embed"] {role = #par.role<parameter>}
func.func private @plain(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %y = par.einsum "be,me->bm"(%x, %w) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
func.func private @layer(%x: tensor<2x4xf32> {par.sharding = #par.sharding<@mesh, [{"dp"}, {}]>}, %w: tensor<4x4xf32>, %key: tensor<2xi32>, %row: tensor<i32>)
    -> tensor<2x4xf32> {
  %offsets = arith.constant dense<0> : tensor<2xi32>
  %site = arith.constant dense<1> : tensor<i32>
  %y = par.einsum "be,me->bm"(%x, %w) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %z = par.dropout %y key %key site %site row %row offsets %offsets {p = 0.1, strides = array<i64: 0, 1>}
      : (tensor<2x4xf32>, tensor<2xi32>, tensor<i32>, tensor<i32>, tensor<2xi32>) -> tensor<2x4xf32>
  return %z : tensor<2x4xf32>
}
func.func @forward(%t: tensor<2x4xf32>, %key: tensor<2xi32> {par.place = #par.place<input dropout_key>}, %m: tensor<i32> {par.place = #par.place<input micro_batch>},
                   %w: tensor<4x4xf32> {par.place = #par.place<variable @w>}) -> (tensor<f32> {par.place = #par.place<output loss>})
    attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %batch = arith.constant dense<2> : tensor<i32>
  %row = arith.muli %m, %batch : tensor<i32>
  %a = par.call @layer(%t, %w, %key, %row) : (tensor<2x4xf32>, tensor<4x4xf32>, tensor<2xi32>, tensor<i32>) -> tensor<2x4xf32>
  %b = par.call @plain(%a, %w) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %loss = par.reduce sum %b dims [0, 1] : tensor<2x4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// Dropout within attention.
// CHECK-LABEL: func.func @eval(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor<1x4x1x1x2xf32>, %[[K:[a-z0-9]+]]: tensor<1x4x1x2xf32>, %[[P:[a-z0-9]+]]: tensor<4xi32>)
// CHECK-NEXT: par.attention %[[Q]], %[[K]], %[[K]] positions %[[P]], %[[P]] {causal, scale = 5.000000e-01 : f64} :
func.func @forward(%q: tensor<1x4x1x1x2xf32>, %k: tensor<1x4x1x2xf32>, %p: tensor<4xi32>, %key: tensor<2xi32> {par.place = #par.place<input dropout_key>},
                   %row: tensor<i32> {par.place = #par.place<input micro_batch>}) -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %offsets = arith.constant dense<0> : tensor<5xi32>
  %out, %lse = par.attention %q, %k, %k positions %p, %p dropout %key site %row row %row offsets %offsets
      {scale = 0.5, causal, dropout = 0.1, strides = array<i64: 0, 4, 4, 4, 1>}
      : (tensor<1x4x1x1x2xf32>, tensor<1x4x1x2xf32>, tensor<1x4x1x2xf32>, tensor<4xi32>, tensor<4xi32>, tensor<2xi32>, tensor<i32>, tensor<i32>, tensor<5xi32>)
      -> (tensor<1x4x1x1x2xf32>, tensor<1x1x1x4xf32>)
  %loss = par.reduce sum %out dims [0, 1, 2, 3, 4] : tensor<1x4x1x1x2xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// A layer in which attention alone drops has an evaluation for itself, which takes no key.
// CHECK-LABEL: func.func private @layer.eval(
// CHECK-SAME: tensor<1x4x1x1x2xf32>, %{{[a-z0-9]+}}: tensor<1x4x1x2xf32>, %{{[a-z0-9]+}}: tensor<4xi32>) ->
// CHECK-NEXT: par.attention %{{.*}} positions %{{[a-z0-9]+}}, %{{[a-z0-9]+}} {causal
// CHECK-LABEL: func.func @eval(
// CHECK: par.call @layer.eval(%{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}}) :
func.func private @layer(%q: tensor<1x4x1x1x2xf32>, %k: tensor<1x4x1x2xf32>, %p: tensor<4xi32>, %key: tensor<2xi32>, %row: tensor<i32>) -> tensor<1x4x1x1x2xf32> {
  %offsets = arith.constant dense<0> : tensor<5xi32>
  %out, %lse = par.attention %q, %k, %k positions %p, %p dropout %key site %row row %row offsets %offsets
      {scale = 0.5, causal, dropout = 0.1, strides = array<i64: 0, 4, 4, 4, 1>}
      : (tensor<1x4x1x1x2xf32>, tensor<1x4x1x2xf32>, tensor<1x4x1x2xf32>, tensor<4xi32>, tensor<4xi32>, tensor<2xi32>, tensor<i32>, tensor<i32>, tensor<5xi32>)
      -> (tensor<1x4x1x1x2xf32>, tensor<1x1x1x4xf32>)
  return %out : tensor<1x4x1x1x2xf32>
}
func.func @forward(%q: tensor<1x4x1x1x2xf32>, %k: tensor<1x4x1x2xf32>, %p: tensor<4xi32>, %key: tensor<2xi32> {par.place = #par.place<input dropout_key>},
                   %row: tensor<i32> {par.place = #par.place<input micro_batch>}) -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %out = par.call @layer(%q, %k, %p, %key, %row) : (tensor<1x4x1x1x2xf32>, tensor<1x4x1x2xf32>, tensor<4xi32>, tensor<2xi32>, tensor<i32>) -> tensor<1x4x1x1x2xf32>
  %loss = par.reduce sum %out dims [0, 1, 2, 3, 4] : tensor<1x4x1x1x2xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// A graph's own evaluation stays the only one.
// CHECK: func.func @forward(
// CHECK-NOT: func.func @eval(
// CHECK: func.func @mine({{.*}}par.phase = #par.phase<eval, chunk = 0>
// CHECK-NOT: func.func
func.func @forward(%t: tensor<4xf32>) -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %loss = par.reduce sum %t dims [0] : tensor<4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
func.func @mine(%t: tensor<4xf32>) -> (tensor<f32> {par.place = #par.place<output eval_loss>}) attributes {par.phase = #par.phase<eval, chunk = 0>} {
  %loss = par.reduce sum %t dims [0] : tensor<4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
