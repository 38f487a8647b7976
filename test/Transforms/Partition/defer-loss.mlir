// RUN: par-opt %s -split-input-file -pass-pipeline="builtin.module(par-defer-loss{limit=256})" | FileCheck %s
// RUN: par-opt %s -split-input-file -pass-pipeline="builtin.module(par-defer-loss{limit=512})" | FileCheck %s --check-prefix=SMALL

// The head's forward and backward parts become one function that the backward function calls; the loss and its accumulation go there, the input becomes a residual.
// CHECK-LABEL: func.func private @head.backward.loss(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x4xf32>, %[[W:[a-z0-9]+]]: tensor<32x4xf32>, %[[T:[a-z0-9]+]]: tensor<4xi32>, %[[SEED:[a-z0-9]+]]: tensor<f32>, %[[ACC:[a-z0-9]+]]: tensor<32x4xf32>)
// CHECK-SAME: -> (tensor<4x4xf32>, tensor<32x4xf32> {par.place = #par.place<alias 4>}, tensor<f32>)
// CHECK: %[[L:.*]] = par.einsum "be,ve->bv"(%[[X]], %[[W]])
// CHECK: %{{.*}}, %[[LSE:.*]] = par.cross_entropy %[[L]], %[[T]]
// CHECK: %[[SUM:.*]] = par.reduce sum
// CHECK: par.cross_entropy_backward %{{.*}}, %[[L]], %[[T]], %[[LSE]]
// CHECK: return %{{.*}}, %{{.*}}, %[[SUM]]
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: -> (tensor<4x4xf32> {par.place = #par.place<residual 2>})
// CHECK-NOT: par.call
// CHECK: return
// CHECK-LABEL: func.func @backward(
// CHECK-SAME: {par.place = #par.place<variable @loss>}
// CHECK-SAME: tensor<f32> {par.place = #par.place<variable @loss>})
// CHECK: %[[C:.*]]:3 = par.call @head.backward.loss(
// CHECK: %[[OLD:.*]] = arith.mulf
// CHECK: %[[NEW:.*]] = arith.addf %[[OLD]], %[[C]]#2
// CHECK: return %[[C]]#1, %[[NEW]]
// SMALL-NOT: head.backward.loss
par.variable @x : tensor<4x4xf32> dims ["seq", "embed"] {role = #par.role<parameter>, init = #par.init<ones>}
par.variable @t : tensor<4xi32> dims ["seq"] {role = #par.role<step>, init = #par.init<zeros>}
par.variable @w : tensor<32x4xf32> dims ["vocab", "embed"] {role = #par.role<parameter>, init = #par.init<ones>}
par.variable @w.acc : tensor<32x4xf32> dims ["vocab", "embed"] {role = #par.role<accumulator>, init = #par.init<zeros>, of = @w}
par.variable @loss : tensor<f32> dims [] {role = #par.role<accumulator>, init = #par.init<zeros>}
func.func private @head.forward(%x: tensor<4x4xf32>, %w: tensor<32x4xf32>, %t: tensor<4xi32>) -> (tensor<f32>, tensor<4x32xf32>, tensor<4xf32>) {
  %l = par.einsum "be,ve->bv"(%x, %w) : (tensor<4x4xf32>, tensor<32x4xf32>) -> tensor<4x32xf32>
  %loss, %lse = par.cross_entropy %l, %t {classes = 32 : i64} : (tensor<4x32xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>)
  %sum = par.reduce sum %loss dims [0] : tensor<4xf32> -> tensor<f32>
  return %sum, %l, %lse : tensor<f32>, tensor<4x32xf32>, tensor<4xf32>
}
func.func private @head.backward(%w: tensor<32x4xf32>, %t: tensor<4xi32>, %x: tensor<4x4xf32>, %l: tensor<4x32xf32>, %lse: tensor<4xf32>, %seed: tensor<f32>,
    %acc: tensor<32x4xf32>) -> (tensor<4x4xf32>, tensor<32x4xf32> {par.place = #par.place<alias 6>}) {
  %s = par.expand %seed dims [0] : tensor<f32> -> tensor<4xf32>
  %d = par.cross_entropy_backward %s, %l, %t, %lse {classes = 32 : i64} : (tensor<4xf32>, tensor<4x32xf32>, tensor<4xi32>, tensor<4xf32>) -> tensor<4x32xf32>
  %dx = par.einsum "bv,ve->be"(%d, %w) : (tensor<4x32xf32>, tensor<32x4xf32>) -> tensor<4x4xf32>
  %dw = par.einsum "bv,be->ve"(%d, %x) : (tensor<4x32xf32>, tensor<4x4xf32>) -> tensor<32x4xf32>
  %a = arith.addf %acc, %dw : tensor<32x4xf32>
  return %dx, %a : tensor<4x4xf32>, tensor<32x4xf32>
}
func.func @forward(%x: tensor<4x4xf32> {par.place = #par.place<variable @x>}, %t: tensor<4xi32> {par.place = #par.place<variable @t>}, %w: tensor<32x4xf32> {par.place = #par.place<variable @w>}, %beta: tensor<f32> {par.place = #par.place<input beta>},
    %old: tensor<f32> {par.place = #par.place<variable @loss>})
    -> (tensor<4x32xf32> {par.place = #par.place<residual 0>}, tensor<4xf32> {par.place = #par.place<residual 1>}, tensor<4x4xf32> {par.place = #par.place<residual 2>}, tensor<f32> {par.place = #par.place<variable @loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %h = math.tanh %x : tensor<4x4xf32>
  %0:3 = par.call @head.forward(%h, %w, %t) : (tensor<4x4xf32>, tensor<32x4xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4x32xf32>, tensor<4xf32>)
  %m = arith.mulf %beta, %old : tensor<f32>
  %s = arith.addf %m, %0#0 : tensor<f32>
  return %0#1, %0#2, %h, %s : tensor<4x32xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<f32>
}
func.func @backward(%t: tensor<4xi32> {par.place = #par.place<variable @t>}, %w: tensor<32x4xf32> {par.place = #par.place<variable @w>}, %l: tensor<4x32xf32> {par.place = #par.place<residual 0>}, %lse: tensor<4xf32> {par.place = #par.place<residual 1>},
    %h: tensor<4x4xf32> {par.place = #par.place<residual 2>}, %seed: tensor<f32> {par.place = #par.place<input loss_scale>}, %acc: tensor<32x4xf32> {par.place = #par.place<variable @w.acc>}) -> (tensor<32x4xf32> {par.place = #par.place<variable @w.acc>})
    attributes {par.phase = #par.phase<backward, chunk = 0>} {
  %0:2 = par.call @head.backward(%w, %t, %h, %l, %lse, %seed, %acc)
      : (tensor<32x4xf32>, tensor<4xi32>, tensor<4x4xf32>, tensor<4x32xf32>, tensor<4xf32>, tensor<f32>, tensor<32x4xf32>) -> (tensor<4x4xf32>, tensor<32x4xf32>)
  return %0#1 : tensor<32x4xf32>
}

// -----

// A loss to which another call adds stays where that call is.
// CHECK-NOT: head.backward.loss
// CHECK: func.func @forward
func.func private @balance(%x: tensor<4x4xf32>) -> tensor<f32> {
  %r = par.reduce sum %x dims [0, 1] : tensor<4x4xf32> -> tensor<f32>
  return %r : tensor<f32>
}
par.variable @x : tensor<4x4xf32> dims ["seq", "embed"] {role = #par.role<parameter>, init = #par.init<ones>}
par.variable @t : tensor<4xi32> dims ["seq"] {role = #par.role<step>, init = #par.init<zeros>}
par.variable @w : tensor<32x4xf32> dims ["vocab", "embed"] {role = #par.role<parameter>, init = #par.init<ones>}
par.variable @w.acc : tensor<32x4xf32> dims ["vocab", "embed"] {role = #par.role<accumulator>, init = #par.init<zeros>, of = @w}
par.variable @loss : tensor<f32> dims [] {role = #par.role<accumulator>, init = #par.init<zeros>}
func.func private @head.forward(%x: tensor<4x4xf32>, %w: tensor<32x4xf32>, %t: tensor<4xi32>) -> (tensor<f32>, tensor<4x32xf32>, tensor<4xf32>) {
  %l = par.einsum "be,ve->bv"(%x, %w) : (tensor<4x4xf32>, tensor<32x4xf32>) -> tensor<4x32xf32>
  %loss, %lse = par.cross_entropy %l, %t {classes = 32 : i64} : (tensor<4x32xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>)
  %sum = par.reduce sum %loss dims [0] : tensor<4xf32> -> tensor<f32>
  return %sum, %l, %lse : tensor<f32>, tensor<4x32xf32>, tensor<4xf32>
}
func.func private @head.backward(%w: tensor<32x4xf32>, %t: tensor<4xi32>, %x: tensor<4x4xf32>, %l: tensor<4x32xf32>, %lse: tensor<4xf32>, %seed: tensor<f32>,
    %acc: tensor<32x4xf32>) -> (tensor<4x4xf32>, tensor<32x4xf32> {par.place = #par.place<alias 6>}) {
  %s = par.expand %seed dims [0] : tensor<f32> -> tensor<4xf32>
  %d = par.cross_entropy_backward %s, %l, %t, %lse {classes = 32 : i64} : (tensor<4xf32>, tensor<4x32xf32>, tensor<4xi32>, tensor<4xf32>) -> tensor<4x32xf32>
  %dx = par.einsum "bv,ve->be"(%d, %w) : (tensor<4x32xf32>, tensor<32x4xf32>) -> tensor<4x4xf32>
  %dw = par.einsum "bv,be->ve"(%d, %x) : (tensor<4x32xf32>, tensor<4x4xf32>) -> tensor<32x4xf32>
  %a = arith.addf %acc, %dw : tensor<32x4xf32>
  return %dx, %a : tensor<4x4xf32>, tensor<32x4xf32>
}
func.func @forward(%x: tensor<4x4xf32> {par.place = #par.place<variable @x>}, %t: tensor<4xi32> {par.place = #par.place<variable @t>}, %w: tensor<32x4xf32> {par.place = #par.place<variable @w>}, %beta: tensor<f32> {par.place = #par.place<input beta>},
    %old: tensor<f32> {par.place = #par.place<variable @loss>})
    -> (tensor<4x32xf32> {par.place = #par.place<residual 0>}, tensor<4xf32> {par.place = #par.place<residual 1>}, tensor<4x4xf32> {par.place = #par.place<residual 2>}, tensor<f32> {par.place = #par.place<variable @loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %h = math.tanh %x : tensor<4x4xf32>
  %aux = par.call @balance(%h) : (tensor<4x4xf32>) -> tensor<f32>
  %0:3 = par.call @head.forward(%h, %w, %t) : (tensor<4x4xf32>, tensor<32x4xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4x32xf32>, tensor<4xf32>)
  %m = arith.mulf %beta, %old : tensor<f32>
  %a = arith.addf %aux, %0#0 : tensor<f32>
  %s = arith.addf %m, %a : tensor<f32>
  return %0#1, %0#2, %h, %s : tensor<4x32xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<f32>
}
func.func @backward(%t: tensor<4xi32> {par.place = #par.place<variable @t>}, %w: tensor<32x4xf32> {par.place = #par.place<variable @w>}, %l: tensor<4x32xf32> {par.place = #par.place<residual 0>}, %lse: tensor<4xf32> {par.place = #par.place<residual 1>},
    %h: tensor<4x4xf32> {par.place = #par.place<residual 2>}, %seed: tensor<f32> {par.place = #par.place<input loss_scale>}, %acc: tensor<32x4xf32> {par.place = #par.place<variable @w.acc>}) -> (tensor<32x4xf32> {par.place = #par.place<variable @w.acc>})
    attributes {par.phase = #par.phase<backward, chunk = 0>} {
  %0:2 = par.call @head.backward(%w, %t, %h, %l, %lse, %seed, %acc)
      : (tensor<32x4xf32>, tensor<4xi32>, tensor<4x4xf32>, tensor<4x32xf32>, tensor<4xf32>, tensor<f32>, tensor<32x4xf32>) -> (tensor<4x4xf32>, tensor<32x4xf32>)
  return %0#1 : tensor<32x4xf32>
}

// -----

// A parameter that the forward function gathered for the head is no residual: the backward function's own gather serves, and where there is
// none, it gathers. The forward function's is gone.
par.mesh @mesh <["dp"=2]>
par.variable @x : tensor<4x4xf32> dims ["seq", "embed"] {role = #par.role<parameter>, init = #par.init<ones>}
par.variable @w : tensor<32x4xf32> dims ["vocab", "embed"] {role = #par.role<parameter>, init = #par.init<ones>}
par.variable @n : tensor<4xf32> dims ["embed"] {role = #par.role<parameter>, init = #par.init<ones>}
// CHECK-LABEL: par.variable @n
// CHECK: func.func @forward(
// CHECK-SAME: tensor<4x4xf32> {par.place = #par.place<variable @x>}) -> (tensor<4x4xf32> {par.place = #par.place<residual {{[0-9]+}}>})
// CHECK-NOT: par.all_gather
// CHECK: return
// CHECK-LABEL: func.func @backward(
// CHECK-COUNT-1: par.all_gather {{.*}} : (tensor<16x4xf32>)
// CHECK-NOT: par.all_gather {{.*}} : (tensor<16x4xf32>)
// CHECK: %[[N:.*]] = par.all_gather {{.*}} : (tensor<2xf32>)
// CHECK: par.call @head.backward.loss(%{{.*}}, %{{.*}}, %[[N]],
func.func private @head.forward(%x: tensor<4x4xf32>, %w: tensor<32x4xf32>, %n: tensor<4xf32>) -> (tensor<f32>, tensor<4x32xf32>) {
  %l = par.einsum "be,ve->bv"(%x, %w) : (tensor<4x4xf32>, tensor<32x4xf32>) -> tensor<4x32xf32>
  %e = par.reduce sum %n dims [0] : tensor<4xf32> -> tensor<f32>
  %s = par.reduce sum %l dims [0, 1] : tensor<4x32xf32> -> tensor<f32>
  %sum = arith.addf %s, %e : tensor<f32>
  return %sum, %l : tensor<f32>, tensor<4x32xf32>
}
func.func private @head.backward(%w: tensor<32x4xf32>, %l: tensor<4x32xf32>, %x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %dx = par.einsum "bv,ve->be"(%l, %w) : (tensor<4x32xf32>, tensor<32x4xf32>) -> tensor<4x4xf32>
  return %dx : tensor<4x4xf32>
}
func.func @forward(%x: tensor<4x4xf32> {par.place = #par.place<variable @x>}, %w: tensor<16x4xf32> {par.place = #par.place<variable @w>}, %n: tensor<2xf32> {par.place = #par.place<variable @n>})
    -> (tensor<4x32xf32> {par.place = #par.place<residual 0>}, tensor<f32> {par.place = #par.place<output loss>}) attributes {par.local, par.phase = #par.phase<forward, chunk = 0>} {
  %h = math.tanh %x : tensor<4x4xf32>
  %0 = par.all_gather over ["dp"] dim 0 %w : (tensor<16x4xf32>) -> tensor<32x4xf32>
  %1 = par.all_gather over ["dp"] dim 0 %n : (tensor<2xf32>) -> tensor<4xf32>
  %2:2 = par.call @head.forward(%h, %0, %1) : (tensor<4x4xf32>, tensor<32x4xf32>, tensor<4xf32>) -> (tensor<f32>, tensor<4x32xf32>)
  return %2#1, %2#0 : tensor<4x32xf32>, tensor<f32>
}
func.func @backward(%w: tensor<16x4xf32> {par.place = #par.place<variable @w>}, %l: tensor<4x32xf32> {par.place = #par.place<residual 0>}, %x: tensor<4x4xf32> {par.place = #par.place<variable @x>}) -> (tensor<4x4xf32> {par.place = #par.place<variable @x>})
    attributes {par.local, par.phase = #par.phase<backward, chunk = 0>} {
  %0 = par.all_gather over ["dp"] dim 0 %w : (tensor<16x4xf32>) -> tensor<32x4xf32>
  %1 = par.call @head.backward(%0, %l, %x) : (tensor<32x4xf32>, tensor<4x32xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
