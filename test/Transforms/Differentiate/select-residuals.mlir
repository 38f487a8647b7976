// RUN: par-opt %s -split-input-file -par-select-residuals=explain -verify-diagnostics | FileCheck %s

par.variable @ids : tensor<4xi32> dims ["d0"] {role = #par.role<step>}
// GELU by tanh saves only its input, after the bias; the layer's input is kept by the caller.
// CHECK-LABEL: func.func private @gelu(
// CHECK-SAME: %[[X:.*]]: tensor<4x2xf32> {par.save}, %{{.*}}: tensor<3x2xf32>, %{{.*}}: tensor<3xf32>)
// CHECK: %[[E:.*]] = par.einsum "be,me->bm"(%[[X]], {{.*}}) :
// CHECK: arith.addf %[[E]], %{{.*}} {par.save = array<i64: 0>} :
// CHECK-NOT: par.save
// CHECK-LABEL: func.func @forward(
// CHECK: par.reduce
// CHECK-NOT: par.save
par.variable @w : tensor<3x2xf32> dims ["mlp", "embed"] {role = #par.role<parameter>}
par.variable @b : tensor<3xf32> dims ["mlp"] {role = #par.role<parameter>}
par.variable @table : tensor<9x2xf32> dims ["vocab", "embed"] {role = #par.role<parameter>}
// expected-remark @below {{saved: argument 0, 32 bytes, kept by the caller}}
func.func private @gelu(%x: tensor<4x2xf32>, %w: tensor<3x2xf32>, %b: tensor<3xf32>) -> tensor<4x3xf32> {
  %e = par.einsum "be,me->bm"(%x, %w) : (tensor<4x2xf32>, tensor<3x2xf32>) -> tensor<4x3xf32>
  %bias = par.expand %b dims [0] : tensor<3xf32> -> tensor<4x3xf32>
  // expected-remark @below {{saved: result 0, 48 bytes}}
  %h = arith.addf %e, %bias : tensor<4x3xf32>
  %c = arith.constant dense<0.5> : tensor<4x3xf32>
  %half = arith.mulf %h, %c : tensor<4x3xf32>
  %square = arith.mulf %h, %h : tensor<4x3xf32>
  %inner = arith.mulf %square, %h : tensor<4x3xf32>
  %t = math.tanh %inner : tensor<4x3xf32>
  %y = arith.mulf %half, %t : tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}
func.func @forward(%ids: tensor<4xi32> {par.place = #par.place<variable @ids>}, %table: tensor<9x2xf32> {par.place = #par.place<variable @table>},
    %w: tensor<3x2xf32> {par.place = #par.place<variable @w>}, %b: tensor<3xf32> {par.place = #par.place<variable @b>}) -> (tensor<f32> {par.place = #par.place<output loss>})
    attributes {par.phase = #par.phase<forward, chunk = 0>} {
  // expected-remark @below {{saved: result 0, 32 bytes}}
  %x = par.embedding %ids, %table : (tensor<4xi32>, tensor<9x2xf32>) -> tensor<4x2xf32>
  %y = par.call @gelu(%x, %w, %b) : (tensor<4x2xf32>, tensor<3x2xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %loss = par.reduce sum %y dims [0, 1] : tensor<4x3xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

par.variable @ids : tensor<4xi32> dims ["d0"] {role = #par.role<step>}
par.variable @x : tensor<4x2xf32> dims ["d0", "d1"] {role = #par.role<step>}
// SwiGLU saves gate and up; the product that the last einsum contracts is recomputed. Marks that were there are replaced.
// CHECK-LABEL: func.func @forward(
// CHECK: par.einsum {{.*}} {par.save = array<i64: 0>}
// CHECK: par.einsum {{.*}} {par.save = array<i64: 0>}
// CHECK-NOT: par.save
par.variable @gate : tensor<3x2xf32> dims ["mlp", "embed"] {role = #par.role<parameter>}
par.variable @up : tensor<3x2xf32> dims ["mlp", "embed"] {role = #par.role<parameter>}
par.variable @down : tensor<2x3xf32> dims ["embed", "mlp"] {role = #par.role<parameter>}
func.func @forward(%ids: tensor<4xi32> {par.place = #par.place<variable @ids>}, %x: tensor<4x2xf32> {par.place = #par.place<variable @x>}, %w0: tensor<3x2xf32> {par.place = #par.place<variable @gate>},
    %w1: tensor<3x2xf32> {par.place = #par.place<variable @up>}, %w2: tensor<2x3xf32> {par.place = #par.place<variable @down>}) -> (tensor<f32> {par.place = #par.place<output loss>})
    attributes {par.phase = #par.phase<forward, chunk = 0>} {
  // expected-remark @below {{saved: result 0, 48 bytes}}
  %g = par.einsum "be,me->bm"(%x, %w0) : (tensor<4x2xf32>, tensor<3x2xf32>) -> tensor<4x3xf32>
  // expected-remark @below {{saved: result 0, 48 bytes}}
  %u = par.einsum "be,me->bm"(%x, %w1) : (tensor<4x2xf32>, tensor<3x2xf32>) -> tensor<4x3xf32>
  %one = arith.constant dense<1.0> : tensor<4x3xf32>
  %n = arith.negf %g : tensor<4x3xf32>
  %e = math.exp %n {par.save = array<i64: 0>} : tensor<4x3xf32>
  %d = arith.addf %one, %e : tensor<4x3xf32>
  %s = arith.divf %g, %d : tensor<4x3xf32>
  %p = arith.mulf %s, %u : tensor<4x3xf32>
  %y = par.einsum "bm,em->be"(%p, %w2) : (tensor<4x3xf32>, tensor<2x3xf32>) -> tensor<4x2xf32>
  %loss = par.reduce sum %y dims [0, 1] : tensor<4x2xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

par.variable @x : tensor<4x2xf32> dims ["d0", "d1"] {role = #par.role<step>}
// With shardings the capacity is that of a shard: the sharded copy of the value is saved, though it is the one further from the use.
// CHECK-LABEL: func.func @forward(
// CHECK: par.einsum {{.*}}par.save = array<i64: 0>
// CHECK-NOT: par.save
par.mesh @mesh <["dp"=2]>
par.variable @w : tensor<2x2xf32> dims ["mlp", "embed"] {role = #par.role<parameter>}
func.func @forward(%x: tensor<4x2xf32> {par.place = #par.place<variable @x>}, %w: tensor<2x2xf32> {par.place = #par.place<variable @w>}) -> (tensor<f32> {par.place = #par.place<output loss>})
    attributes {par.phase = #par.phase<forward, chunk = 0>} {
  // expected-remark @below {{saved: result 0, 16 bytes}}
  %e = par.einsum "be,me->bm"(%x, %w) {par.sharding = [#par.sharding<@mesh, [{"dp"}, {}]>]} : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %n = arith.negf %e {par.sharding = [#par.sharding<@mesh, [{}, {}]>]} : tensor<4x2xf32>
  %t = arith.mulf %n, %n {par.sharding = [#par.sharding<@mesh, [{}, {}]>]} : tensor<4x2xf32>
  %loss = par.reduce sum %t dims [0, 1] : tensor<4x2xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// A result of the layer itself (softmax) is not returned twice: the caller keeps it.
// CHECK-LABEL: func.func private @softmax(
// CHECK: par.softmax {{.*}} {par.save = array<i64: 0>}
par.variable @w : tensor<4x2xf32> dims ["mlp", "embed"] {role = #par.role<parameter>}
func.func private @softmax(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  // expected-remark @below {{saved: result 0, 32 bytes}}
  %y = par.softmax %x : tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}
func.func @forward(%w: tensor<4x2xf32> {par.place = #par.place<variable @w>}) -> (tensor<f32> {par.place = #par.place<output loss>})
    attributes {par.phase = #par.phase<forward, chunk = 0>} {
  // expected-remark @below {{saved: result 0, 32 bytes}}
  %y = par.call @softmax(%w) : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %z = arith.mulf %y, %y : tensor<4x2xf32>
  %loss = par.reduce sum %z dims [0, 1] : tensor<4x2xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// expected-error @below {{nothing to differentiate: no function is of phase forward}}
module {
  func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
}
