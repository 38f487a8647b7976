// RUN: par-opt %s -split-input-file -par-select-residuals -par-differentiate -verify-diagnostics | FileCheck %s
// RUN: par-opt %s -split-input-file -par-select-residuals -par-differentiate=split=true -verify-diagnostics | FileCheck %s --check-prefix=SPLIT

// A ColumnParallelLinear-like layer, called once: its input is kept by the caller and not returned; its parameters are accumulated in
// the callee, in place; dW = dyᵀ·x, db = Σ dy, dx = dy·w. The bias (rank 1) stays in the input part of a split backward.
// CHECK: par.variable @w.accumulator : tensor<3x2xf32> dims ["mlp", "embed"] {init = #par.init<zeros>, of = @w, role = #par.role<accumulator>}
// CHECK: par.variable @b.accumulator
// CHECK: par.variable @loss : tensor<f32>
// CHECK-NOT: @linear(
// CHECK-LABEL: func.func private @linear.forward(
// CHECK-SAME: -> tensor<4x3xf32> {
// CHECK-LABEL: func.func private @linear.backward(
// CHECK-SAME: %[[X:[a-z0-9_]+]]: tensor<4x2xf32>, %[[W:[a-z0-9_]+]]: tensor<3x2xf32>, %[[DY:[a-z0-9_]+]]: tensor<4x3xf32>, %[[BETA:[a-z0-9_]+]]: tensor<f32>, %[[ACCW:[a-z0-9_]+]]: tensor<3x2xf32>, %[[ACCB:[a-z0-9_]+]]: tensor<3xf32>)
// CHECK-SAME: -> (tensor<4x2xf32>, tensor<3x2xf32> {par.place = #par.place<alias 4>}, tensor<3xf32> {par.place = #par.place<alias 5>})
// CHECK: %[[DB:[a-z0-9_]+]] = par.reduce sum %[[DY]] dims [0]
// CHECK: %[[B0:[a-z0-9_]+]] = par.expand %[[BETA]] dims [0]
// CHECK: %[[OLD:[a-z0-9_]+]] = arith.mulf %[[B0]], %[[ACCB]]
// CHECK: %[[NEWB:[a-z0-9_]+]] = arith.addf %[[OLD]], %[[DB]]
// CHECK-DAG: %[[DX:[a-z0-9_]+]] = par.einsum {{.*}}(%[[DY]], %[[W]])
// CHECK-DAG: %[[DW:[a-z0-9_]+]] = par.einsum {{.*}}(%[[DY]], %[[X]])
// CHECK: %[[NEWW:[a-z0-9_]+]] = arith.addf %{{.*}}, %[[DW]]
// CHECK: return %[[DX]], %[[NEWW]], %[[NEWB]]

// The chunk adds to @loss, saves x once and seeds with the runtime's scale.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[LBETA:[a-z0-9_]+]]: tensor<f32> {par.place = #par.place<input beta>}, %[[LOSS:[a-z0-9_]+]]: tensor<f32> {par.place = #par.place<variable @loss>}) -> (tensor<4x2xf32> {par.place = #par.place<residual 0>}, tensor<f32> {par.place = #par.place<variable @loss>})
// CHECK-SAME: par.phase = #par.phase<forward, chunk = 0>
// CHECK: %[[X:[a-z0-9_]+]] = par.embedding
// CHECK: %[[Y:[a-z0-9_]+]] = par.call @linear.forward(%[[X]],
// CHECK: %[[SUM:[a-z0-9_]+]] = par.reduce sum %[[Y]]
// CHECK: %[[PREVIOUS:[a-z0-9_]+]] = arith.mulf %[[LBETA]], %[[LOSS]]
// CHECK: %[[TOTAL:[a-z0-9_]+]] = arith.addf %[[PREVIOUS]], %[[SUM]]
// CHECK: return %[[X]], %[[TOTAL]]
// CHECK-LABEL: func.func @backward(
// CHECK-SAME: %[[IDS:[a-z0-9_]+]]: tensor<4xi32> {par.place = #par.place<variable @ids>}, %[[W:[a-z0-9_]+]]: tensor<3x2xf32> {par.place = #par.place<variable @w>}, %[[X:[a-z0-9_]+]]: tensor<4x2xf32> {par.place = #par.place<residual 0>}, %[[SCALE:[a-z0-9_]+]]: tensor<f32> {par.place = #par.place<input loss_scale>}, %[[BETA:[a-z0-9_]+]]: tensor<f32> {par.place = #par.place<input beta>}
// CHECK-SAME: par.phase = #par.phase<backward, chunk = 0>
// CHECK: %[[SEED:[a-z0-9_]+]] = par.expand %[[SCALE]] dims [0, 1]
// CHECK: %[[D:[a-z0-9_]+]]:3 = par.call @linear.backward(%[[X]], %[[W]], %[[SEED]], %[[BETA]],
// CHECK: %[[DT:[a-z0-9_]+]] = par.embedding_backward %[[IDS]], %[[D]]#0
// CHECK: arith.addf %{{.*}}, %[[DT]]

par.variable @ids : tensor<4xi32> dims ["d0"] {role = #par.role<step>}
// The weight part takes x and dy as the caller has them: nothing is handed over.
// SPLIT-LABEL: func.func private @linear.backward_input(
// SPLIT-SAME: -> (tensor<4x2xf32>, tensor<3xf32> {par.place = #par.place<alias 3>})
// SPLIT: par.einsum
// SPLIT-NOT: par.einsum
// SPLIT-LABEL: func.func private @linear.backward_weight(
// SPLIT-SAME: %[[X:[a-z0-9_]+]]: tensor<4x2xf32>, %[[DY:[a-z0-9_]+]]: tensor<4x3xf32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<3x2xf32>) -> (tensor<3x2xf32> {par.place = #par.place<alias 3>})
// SPLIT: par.einsum {{.*}}(%[[DY]], %[[X]])
// SPLIT-LABEL: func.func @backward_input(
// SPLIT-SAME: {par.place = #par.place<variable @b.accumulator>}) -> (tensor<4x3xf32> {par.place = #par.place<residual 1>}, tensor<4x2xf32> {par.place = #par.place<residual 2>}, tensor<3xf32> {par.place = #par.place<variable @b.accumulator>})
// SPLIT-SAME: par.phase = #par.phase<backward_input, chunk = 0>
// SPLIT-LABEL: func.func @backward_weight(
// SPLIT-SAME: tensor<4x2xf32> {par.place = #par.place<residual 0>}, %{{.*}}: tensor<4x3xf32> {par.place = #par.place<residual 1>}, %{{.*}}: tensor<4x2xf32> {par.place = #par.place<residual 2>}
// SPLIT-SAME: -> (tensor<9x2xf32> {par.place = #par.place<variable @table.accumulator>}, tensor<3x2xf32> {par.place = #par.place<variable @w.accumulator>})
par.variable @table : tensor<9x2xf32> dims ["vocab", "embed"] {role = #par.role<parameter>}
par.variable @w : tensor<3x2xf32> dims ["mlp", "embed"] {role = #par.role<parameter>}
par.variable @b : tensor<3xf32> dims ["mlp"] {role = #par.role<parameter>}
func.func private @linear(%x: tensor<4x2xf32>, %w: tensor<3x2xf32>, %b: tensor<3xf32>) -> tensor<4x3xf32> {
  %e = par.einsum "be,me->bm"(%x, %w) : (tensor<4x2xf32>, tensor<3x2xf32>) -> tensor<4x3xf32>
  %bias = par.expand %b dims [0] : tensor<3xf32> -> tensor<4x3xf32>
  %y = arith.addf %e, %bias : tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}
func.func @forward(%ids: tensor<4xi32> {par.place = #par.place<variable @ids>}, %table: tensor<9x2xf32> {par.place = #par.place<variable @table>},
    %w: tensor<3x2xf32> {par.place = #par.place<variable @w>}, %b: tensor<3xf32> {par.place = #par.place<variable @b>}) -> (tensor<f32> {par.place = #par.place<output loss>})
    attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %x = par.embedding %ids, %table : (tensor<4xi32>, tensor<9x2xf32>) -> tensor<4x2xf32>
  %y = par.call @linear(%x, %w, %b) : (tensor<4x2xf32>, tensor<3x2xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %loss = par.reduce sum %y dims [0, 1] : tensor<4x3xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// A weight used by two calls and directly: the first contribution in backward order (the direct one) applies beta, the calls get 1.
// A parameter that nothing leads from is multiplied by beta: its gradient is zero.
// CHECK-LABEL: func.func @backward(
// CHECK-SAME: %[[BETA:[a-z0-9_]+]]: tensor<f32> {par.place = #par.place<input beta>}, %[[ACC:[a-z0-9_]+]]: tensor<4x4xf32> {par.place = #par.place<variable @w.accumulator>}, %[[UNUSED:[a-z0-9_]+]]: tensor<5xf32> {par.place = #par.place<variable @unused.accumulator>})
// CHECK: %[[DW:[a-z0-9_]+]] = par.einsum {{.*}} -> tensor<4x4xf32>
// CHECK: %[[OLD:[a-z0-9_]+]] = arith.mulf %{{.*}}, %[[ACC]]
// CHECK: %[[A0:[a-z0-9_]+]] = arith.addf %[[OLD]], %[[DW]]
// CHECK: %[[ONE0:[a-z0-9_]+]] = arith.constant dense<1.000000e+00> : tensor<f32>
// CHECK: %[[C1:[a-z0-9_]+]]:2 = par.call @layer.backward({{.*}}, %[[ONE0]], %[[A0]])
// CHECK: %[[ONE1:[a-z0-9_]+]] = arith.constant dense<1.000000e+00> : tensor<f32>
// CHECK: %[[C2:[a-z0-9_]+]]:2 = par.call @layer.backward({{.*}}, %[[ONE1]], %[[C1]]#1)
// CHECK: %[[E:[a-z0-9_]+]] = par.expand %[[BETA]] dims [0]
// CHECK: %[[ZERO:[a-z0-9_]+]] = arith.mulf %[[E]], %[[UNUSED]]
// CHECK: return %[[C2]]#1, %[[ZERO]]
// SPLIT-LABEL: func.func @backward(
par.variable @w : tensor<4x4xf32> dims ["mlp", "embed"] {role = #par.role<parameter>}
par.variable @unused : tensor<5xf32> dims ["embed"] {role = #par.role<parameter>}
func.func private @layer(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %y = par.einsum "be,me->bm"(%x, %w) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
func.func @forward(%ids: tensor<2x4xi32> {par.place = #par.place<input tokens>}, %w: tensor<4x4xf32> {par.place = #par.place<variable @w>}, %u: tensor<5xf32> {par.place = #par.place<variable @unused>})
    -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %x = arith.sitofp %ids : tensor<2x4xi32> to tensor<2x4xf32>
  %y = par.call @layer(%x, %w) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %z = par.call @layer(%y, %w) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %t = par.einsum "be,me->bm"(%z, %w) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %loss = par.reduce sum %t dims [0, 1] : tensor<2x4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// One call passes a parameter, the other an activation: the cotangent of that argument is a plain result, accumulated by the chunk.
// CHECK-LABEL: func.func private @scale.backward(
// CHECK-NOT: place<alias
// CHECK-LABEL: func.func @backward(
// CHECK: %[[C:[a-z0-9_]+]]:2 = par.call @scale.backward
// CHECK: arith.addf %{{.*}}, %[[C]]#
// SPLIT-LABEL: func.func @backward_input(
par.variable @w : tensor<4xf32> dims ["embed"] {role = #par.role<parameter>}
par.variable @v : tensor<4xf32> dims ["embed"] {role = #par.role<parameter>}
func.func private @scale(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.mulf %x, %w : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @forward(%v: tensor<4xf32> {par.place = #par.place<variable @v>}, %w: tensor<4xf32> {par.place = #par.place<variable @w>}) -> (tensor<f32> {par.place = #par.place<output loss>})
    attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %y = par.call @scale(%v, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = par.call @scale(%y, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %loss = par.reduce sum %z dims [0] : tensor<4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

par.variable @x : tensor<4x2xf32> dims ["d0", "d1"] {role = #par.role<step>}
// Shardings: recomputed ops and residuals keep theirs, a cotangent takes its value's dimensions, an accumulator its parameter's.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: -> (tensor<4x3xf32> {par.place = #par.place<residual 0>, par.sharding = #par.sharding<@mesh, [{"dp"}, {}]>}
// CHECK-LABEL: func.func @backward(
// CHECK-SAME: tensor<4x3xf32> {par.place = #par.place<residual 0>, par.sharding = #par.sharding<@mesh, [{"dp"}, {}]>}
// CHECK-SAME: {par.place = #par.place<variable @w.accumulator>, par.sharding = #par.sharding<@mesh, [{}, {}]>})
// CHECK: math.tanh {{.*}} {par.sharding = [#par.sharding<@mesh, [{"dp"}, {}]>]}
// CHECK: par.einsum {{.*}}{par.sharding = [#par.sharding<@mesh, [{}, {}]>]} : {{.*}} -> tensor<3x2xf32>
// SPLIT-LABEL: func.func @backward_input(
par.mesh @mesh <["dp"=2]>
par.variable @w : tensor<3x2xf32> dims ["mlp", "embed"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{}, {}]>}
func.func @forward(%x: tensor<4x2xf32> {par.place = #par.place<variable @x>, par.sharding = #par.sharding<@mesh, [{"dp"}, {}]>},
    %w: tensor<3x2xf32> {par.place = #par.place<variable @w>, par.sharding = #par.sharding<@mesh, [{}, {}]>}) -> (tensor<f32> {par.place = #par.place<output loss>})
    attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %h = par.einsum "be,me->bm"(%x, %w) {par.sharding = [#par.sharding<@mesh, [{"dp"}, {}]>]} : (tensor<4x2xf32>, tensor<3x2xf32>) -> tensor<4x3xf32>
  %t = math.tanh %h {par.sharding = [#par.sharding<@mesh, [{"dp"}, {}]>]} : tensor<4x3xf32>
  %p = arith.mulf %t, %h {par.sharding = [#par.sharding<@mesh, [{"dp"}, {}]>]} : tensor<4x3xf32>
  %loss = par.reduce sum %p dims [0, 1] : tensor<4x3xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

par.variable @w : tensor<4xf32> dims ["embed"] {role = #par.role<parameter>}
// expected-error @below {{@layer calls itself; layers must not be recursive}}
func.func private @layer(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note @below {{by this call in @layer}}
  %y = par.call @layer(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @forward(%w: tensor<4xf32> {par.place = #par.place<variable @w>}) -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %y = par.call @layer(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %loss = par.reduce sum %y dims [0] : tensor<4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// expected-note @below {{the parameter}}
par.variable @w : tensor<4xf32> dims ["embed"] {role = #par.role<parameter>}
// expected-error @below {{@forward: argument 1 binds parameter @w, which another argument binds already; pass it once}}
func.func @forward(%w: tensor<4xf32> {par.place = #par.place<variable @w>}, %v: tensor<4xf32> {par.place = #par.place<variable @w>}) -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %loss = par.reduce sum %w dims [0] : tensor<4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

par.variable @w : tensor<4xf32> dims ["embed"] {role = #par.role<parameter>}
// expected-error @below {{@backward is the name that the derivative of @forward needs; rename this symbol}}
func.func @backward() {
  return
}
// expected-note @below {{the function that is differentiated}}
func.func @forward(%w: tensor<4xf32> {par.place = #par.place<variable @w>}) -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %loss = par.reduce sum %w dims [0] : tensor<4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
