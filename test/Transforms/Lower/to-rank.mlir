// RUN: par-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(par-form-kernels),par-to-rank{micro-batches=2})' | FileCheck %s
// RUN: sed '/^\/\/ -----/,$d' %s > %t.mlir
// RUN: par-opt %t.mlir -pass-pipeline='builtin.module(func.func(par-form-kernels),par-to-rank{micro-batches=3 schedule=gpipe})' | FileCheck %s --check-prefix=ALL
// RUN: not par-opt %t.mlir -pass-pipeline='builtin.module(func.func(par-form-kernels),par-to-rank{micro-batches=2 schedule=zb-v})' 2>&1 | FileCheck %s --check-prefix=CHUNKS
// CHUNKS: error: par-to-rank: zb-v has 2 chunks per stage, not 1

// All micro-batches forward, then all back: residuals of each have memory of their own, and the last one is the first to be accumulated.
// ALL-LABEL: rank.schedule train
// ALL-DAG: %[[R0:.*]] = rank.slot{{ +}}residual "0.0"{{ +}}activations
// ALL-DAG: %[[R1:.*]] = rank.slot{{ +}}residual "0.0.1"{{ +}}activations
// ALL-DAG: %[[R2:.*]] = rank.slot{{ +}}residual "0.0.2"{{ +}}activations
// ALL-DAG: %[[B0:.*]] = rank.slot{{ +}}constant "beta" {{.*}}value = 0.0
// ALL-DAG: %[[B1:.*]] = rank.slot{{ +}}constant "beta" {{.*}}value = 1.0
// ALL: rank.action forward @forward frame {{.*}} outs(%[[R0]] {{.*}}micro_batch = 0
// ALL: rank.action forward @forward frame {{.*}} outs(%[[R1]] {{.*}}micro_batch = 1
// ALL: rank.action forward @forward frame {{.*}} outs(%[[R2]] {{.*}}micro_batch = 2
// ALL: rank.action backward @backward frame {{.*}} ins(%[[R2]], %[[B0]], {{.*}}micro_batch = 2
// ALL: rank.action backward @backward frame {{.*}} ins(%[[R1]], %[[B1]], {{.*}}micro_batch = 1
// ALL: rank.action backward @backward frame {{.*}} ins(%[[R0]], %[[B1]], {{.*}}micro_batch = 0
// ALL: rank.action reduce @reduce

par.variable @w : tensor<4x4xf32> dims ["a", "b"] {role = #par.role<parameter>, init = #par.init<zeros>}
par.variable @acc : tensor<4x4xf32> dims ["a", "b"] {role = #par.role<accumulator>, of = @w}
par.variable @grad : tensor<4x4xf32> dims ["a", "b"] {role = #par.role<gradient>, of = @w, alias = @acc}

// A function takes its results as buffers; a layer is one function however often it is called.
// CHECK-LABEL: rank.func @layer(
// CHECK-SAME: %[[X:.*]]: !rank.buffer<128>, %[[W:.*]]: !rank.buffer<64>, %[[Y:.*]]: !rank.buffer<128>) attributes {results = 1 : i64}
// CHECK: %[[H:.*]] = rank.alloc{{ +}}workspace : <128>
// CHECK: rank.gemm ins(%[[X]], %[[W]] : {{.*}}) outs(%[[H]] :
// CHECK: rank.kernel ins(%[[H]], %[[X]] : {{.*}}) outs(%[[Y]] :
// CHECK: math.tanh
// CHECK: arith.addf
func.func private @layer(%x: tensor<8x4xf32>, %w: tensor<4x4xf32>) -> tensor<8x4xf32> {
  %h = par.einsum "ik,jk->ij"(%x, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %t = math.tanh %h : tensor<8x4xf32>
  %y = arith.addf %t, %x : tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// CHECK-LABEL: rank.func @forward
// CHECK-COUNT-2: rank.call @layer
func.func @forward(%ids: tensor<8x4xi32> {par.place = #par.place<input tokens>}, %w: tensor<4x4xf32> {par.place = #par.place<variable @w>}) -> (tensor<8x4xf32> {par.place = #par.place<residual 0>})
    attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %x = arith.sitofp %ids : tensor<8x4xi32> to tensor<8x4xf32>
  %0 = par.call @layer(%x, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %1 = par.call @layer(%0, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// The accumulator is read only where it is written: the product adds to it in place, without a copy.
// CHECK-LABEL: rank.func @backward(
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: !rank.buffer<64>) attributes
// CHECK-NOT: rank.copy
// CHECK: rank.gemm {{.*}} outs(%[[OUT]] :
func.func @backward(%r: tensor<8x4xf32> {par.place = #par.place<residual 0>}, %beta: tensor<f32> {par.place = #par.place<input beta>}, %acc: tensor<4x4xf32> {par.place = #par.place<variable @acc>})
    -> (tensor<4x4xf32> {par.place = #par.place<variable @acc>}) attributes {par.phase = #par.phase<backward, chunk = 0>} {
  %d = par.einsum "ki,kj->ij"(%r, %r) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %b = par.expand %beta dims [0, 1] : tensor<f32> -> tensor<4x4xf32>
  %s = arith.mulf %acc, %b : tensor<4x4xf32>
  %n = arith.addf %s, %d : tensor<4x4xf32>
  return %n : tensor<4x4xf32>
}

// The gradient lies in the accumulator's memory: nothing to do.
// CHECK-LABEL: rank.func @reduce
// CHECK-NEXT: rank.return
func.func @reduce(%acc: tensor<4x4xf32> {par.place = #par.place<variable @acc>}) -> (tensor<4x4xf32> {par.place = #par.place<variable @grad>}) attributes {par.phase = #par.phase<reduce, chunk = 0>} {
  return %acc : tensor<4x4xf32>
}

// CHECK-LABEL: rank.func @update
// CHECK: arith.subf
func.func @update(%w: tensor<4x4xf32> {par.place = #par.place<variable @w>}, %g: tensor<4x4xf32> {par.place = #par.place<variable @grad>}) -> (tensor<4x4xf32> {par.place = #par.place<variable @w>}) attributes {par.phase = #par.phase<update, chunk = 0>} {
  %n = arith.subf %w, %g : tensor<4x4xf32>
  return %n : tensor<4x4xf32>
}

// Tokens have a slot per micro-batch, beta is 0 in the first and 1 in the second, accumulator and gradient share one.
// CHECK-LABEL: rank.schedule train
// CHECK-DAG: %[[T0:.*]] = rank.slot{{ +}}input "tokens"{{ +}}workspace {{{.*}}micro_batch = 0
// CHECK-DAG: %[[T1:.*]] = rank.slot{{ +}}input "tokens"{{ +}}workspace {{{.*}}micro_batch = 1
// CHECK-DAG: %[[B0:.*]] = rank.slot{{ +}}constant "beta" {{.*}}value = 0.0
// CHECK-DAG: %[[B1:.*]] = rank.slot{{ +}}constant "beta" {{.*}}value = 1.0
// CHECK-DAG: %[[A:.*]] = rank.slot{{ +}}variable "acc"{{ +}}gradients {also = ["grad"]
// CHECK-DAG: %[[R:.*]] = rank.slot{{ +}}residual "0.0"{{ +}}activations
// CHECK: rank.action forward @forward frame %{{.*}} ins(%[[T0]], %[[V:.*]] : {{.*}}) outs(%[[R]] : {{.*}}) {chunk = 0 : i64, micro_batch = 0 : i64, {{.*}}}
// CHECK: rank.action backward @backward frame %{{.*}} ins(%[[R]], %[[B0]], %[[A]] : {{.*}}) outs(%[[A]] : {{.*}}) {{.*}}micro_batch = 0
// CHECK: rank.action forward @forward frame %{{.*}} ins(%[[T1]], %[[V]] : {{.*}}) outs(%[[R]] : {{.*}}) {{.*}}micro_batch = 1
// CHECK: rank.action backward @backward frame %{{.*}} ins(%[[R]], %[[B1]], %[[A]] : {{.*}}) outs(%[[A]] : {{.*}}) {{.*}}micro_batch = 1
// CHECK: rank.action reduce @reduce frame %{{.*}} ins(%[[A]] : {{.*}}) outs(%[[A]] : {{.*}}) {{.*}}micro_batch = -1
// CHECK: rank.action update @update frame %{{.*}} ins(%[[V]], %[[A]] : {{.*}}) outs(%[[V]] : {{.*}})

// -----

par.variable @t : tensor<4xf32> dims ["d0"] {role = #par.role<step>}
// Result 0 overwrites %a, which is also returned: %a is saved before it is lost.
// CHECK-LABEL: rank.func @exchange(
// CHECK-SAME: %[[A:.*]]: !rank.buffer<16>, %[[B:.*]]: !rank.buffer<16>, %[[R0:.*]]: !rank.buffer<16>, %[[R1:.*]]: !rank.buffer<16>)
// CHECK: %[[SAVED:.*]] = rank.alloc
// CHECK: rank.copy %[[A]] to %[[SAVED]]
// CHECK: rank.copy %[[B]] to %[[R0]]
// CHECK: rank.copy %[[SAVED]] to %[[R1]]
func.func private @exchange(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32> {par.place = #par.place<alias 0>}, tensor<4xf32>) {
  return %b, %a : tensor<4xf32>, tensor<4xf32>
}
// What the call consumes is needed again: the callee gets a copy.
// CHECK-LABEL: rank.func @forward(
// CHECK-SAME: %[[T:[a-z0-9]+]]: !rank.buffer<16>,
// CHECK: rank.copy %[[T]] to %[[COPY:[a-z0-9]+]] {{.*}}:
// CHECK: rank.call @exchange frame %{{[a-z0-9]+}} : <0> ins(%[[COPY]], %[[T]] : {{.*}}) outs(%[[COPY]],
func.func @forward(%t: tensor<4xf32> {par.place = #par.place<variable @t>}) -> (tensor<4xf32> {par.place = #par.place<residual 0>}, tensor<4xf32> {par.place = #par.place<residual 1>})
    attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %0, %1 = par.call @exchange(%t, %t) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
func.func @backward(%r: tensor<4xf32> {par.place = #par.place<residual 0>}, %s: tensor<4xf32> {par.place = #par.place<residual 1>}) attributes {par.phase = #par.phase<backward, chunk = 0>} { return }
func.func @reduce() attributes {par.phase = #par.phase<reduce, chunk = 0>} { return }
func.func @update() attributes {par.phase = #par.phase<update, chunk = 0>} { return }

// -----

par.variable @t : tensor<4x4xf32> dims ["d0", "d1"] {role = #par.role<step>}
// Result 0 overwrites %a, which the product reads when the sum is there already: the sum waits beside it.
// CHECK-LABEL: rank.func @late(
// CHECK-SAME: %[[A:[a-z0-9]+]]: !rank.buffer<64>, %[[B:[a-z0-9]+]]: !rank.buffer<64>, %[[R0:[a-z0-9]+]]: !rank.buffer<64>, %[[R1:[a-z0-9]+]]: !rank.buffer<64>)
// CHECK: %[[SUM:.*]] = rank.alloc
// CHECK: rank.kernel ins(%[[A]], %[[B]] : {{.*}}) outs(%[[SUM]] :
// CHECK: rank.gemm ins(%[[SUM]], %[[A]] : {{.*}}) outs(%[[R1]] :
// CHECK: rank.copy %[[SUM]] to %[[R0]]
func.func private @late(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> (tensor<4x4xf32> {par.place = #par.place<alias 0>}, tensor<4x4xf32>) {
  %sum = arith.addf %a, %b : tensor<4x4xf32>
  %product = par.einsum "ik,kj->ij"(%sum, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %sum, %product : tensor<4x4xf32>, tensor<4x4xf32>
}

// A product that no library computes is a kernel.
// CHECK-LABEL: rank.func @loops(
// CHECK: rank.kernel
// CHECK: par.einsum "ij,ji->ij"
func.func private @loops(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = par.einsum "ij,ji->ij"(%a, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// A sum of products lies in the result from the first one on.
// CHECK-LABEL: rank.func @products(
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: !rank.buffer<64>) attributes
// CHECK-NOT: rank.alloc
// CHECK: rank.gemm ins({{.*}}) outs(%[[OUT]] :
// CHECK: rank.gemm ins(%{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %[[OUT]] : {{.*}}) outs(%[[OUT]] :
// CHECK: rank.gemm ins(%{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %[[OUT]] : {{.*}}) outs(%[[OUT]] :
func.func private @products(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = par.einsum "ik,kj->ij"(%a, %b) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = par.einsum "ik,kj->ij"(%b, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = par.einsum "ik,jk->ij"(%a, %b) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = arith.addf %0, %1 : tensor<4x4xf32>
  %t = arith.addf %2, %s : tensor<4x4xf32>
  return %t : tensor<4x4xf32>
}

// The tangent may not lie where what is read later through a view lies.
// CHECK-LABEL: rank.func @viewed(
// CHECK: rank.gemm ins(%{{[a-z0-9]+}} : {{.*}}) outs(%[[H:[a-z0-9]+]] :
// CHECK-NOT: outs(%[[H]] :
// CHECK: rank.gemm ins(%{{[a-z0-9]+}}, %[[H]] :
func.func private @viewed(%a: tensor<4x4xf32>) -> tensor<2x8xf32> {
  %h = par.einsum "ik,jk->ij"(%a, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %v = par.reshape %h : tensor<4x4xf32> -> tensor<2x8xf32>
  %s = math.tanh %h : tensor<4x4xf32>
  %w = par.reshape %s : tensor<4x4xf32> -> tensor<2x8xf32>
  %g = par.einsum "ik,jk->ij"(%w, %v) : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x2xf32>
  %r = par.einsum "ij,jk->ik"(%g, %v) : (tensor<2x2xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %r : tensor<2x8xf32>
}

// The first call may not have %h itself, which the second one reads.
// CHECK-LABEL: rank.func @forward(
// CHECK: rank.kernel {{.*}} outs(%[[H:[a-z0-9]+]] :
// CHECK: rank.copy %[[H]] to %[[COPY:[a-z0-9]+]] {{.*}}:
// CHECK: rank.call @late frame %{{[a-z0-9]+}} : <0> ins(%[[COPY]], %{{[a-z0-9]+}} : {{.*}}) outs(%[[COPY]],
// CHECK: rank.call @late frame %{{[a-z0-9]+}} : <0> ins(%{{[a-z0-9]+}}, %[[H]]
func.func @forward(%t: tensor<4x4xf32> {par.place = #par.place<variable @t>}) -> (tensor<4x4xf32> {par.place = #par.place<residual 0>}, tensor<4x4xf32> {par.place = #par.place<residual 1>})
    attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %h = math.tanh %t : tensor<4x4xf32>
  %0, %1 = par.call @late(%h, %t) : (tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  %2, %3 = par.call @late(%1, %h) : (tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  %l = par.call @loops(%2) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = arith.addf %0, %l : tensor<4x4xf32>
  %v = par.call @viewed(%4) : (tensor<4x4xf32>) -> tensor<2x8xf32>
  %w = par.reshape %v : tensor<2x8xf32> -> tensor<4x4xf32>
  %5 = par.call @products(%w, %h) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %5, %3 : tensor<4x4xf32>, tensor<4x4xf32>
}
func.func @backward(%r: tensor<4x4xf32> {par.place = #par.place<residual 0>}, %s: tensor<4x4xf32> {par.place = #par.place<residual 1>}) attributes {par.phase = #par.phase<backward, chunk = 0>} { return }
func.func @reduce() attributes {par.phase = #par.phase<reduce, chunk = 0>} { return }
func.func @update() attributes {par.phase = #par.phase<update, chunk = 0>} { return }
