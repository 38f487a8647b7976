// RUN: par-opt %s -pass-pipeline='builtin.module(func.func(par-form-kernels),par-to-rank)' | FileCheck %s

par.variable @t : tensor<4x4xf32> dims ["d0", "d1"] {role = #par.role<step>}
par.mesh @mesh <["dp"=2]>
par.variable @w : tensor<4x4xf32> dims ["a", "b"] {role = #par.role<parameter>, init = #par.init<zeros>}
par.variable @acc : tensor<4x4xf32> dims ["a", "b"] {role = #par.role<accumulator>, of = @w}
par.variable @grad : tensor<4x4xf32> dims ["a", "b"] {role = #par.role<gradient>, of = @w, alias = @acc}

// What a started collective reads may be written over when it was waited for, not before: %h needs a buffer of its own.
// CHECK-LABEL: rank.func @forward(
// CHECK-SAME: %[[T:[a-z0-9]+]]: !rank.buffer<64>, %[[R:[a-z0-9]+]]: !rank.buffer<64>)
// CHECK: %[[X:.*]] = rank.alloc
// CHECK: rank.gemm {{.*}} outs(%[[X]] :
// CHECK: %[[P:.*]] = rank.alloc{{ +}}communication
// CHECK: %[[E:.*]] = rank.start ins(%[[X]] : {{.*}}) outs(%[[P]] : {{.*}}) attributes {par.cause = "test"{{.*}}}
// CHECK-NEXT: ^bb0
// CHECK-NEXT: par.all_reduce sum over ["dp"] %{{[a-z0-9]*}} : (tensor<4x4xf32>)
// CHECK: %[[H:.*]] = rank.alloc
// CHECK: rank.kernel ins(%[[X]] : {{.*}}) outs(%[[H]] :
// CHECK: %[[G:.*]] = rank.alloc
// CHECK: rank.gemm ins(%[[H]], %[[T]] : {{.*}}) outs(%[[G]] :
// CHECK: rank.wait %[[E]]
// CHECK: rank.kernel ins(%[[P]], %[[G]] : {{.*}}) outs(%[[R]] :
func.func @forward(%t: tensor<4x4xf32> {par.place = #par.place<variable @t>}) -> (tensor<4x4xf32> {par.place = #par.place<residual 0>}) attributes {par.local, par.phase = #par.phase<forward, chunk = 0>} {
  %x = par.einsum "ik,kj->ij"(%t, %t) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = par.all_reduce sum over ["dp"] %x {par.cause = "test", par.started} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %h = math.tanh %x : tensor<4x4xf32>
  %g = par.einsum "ik,kj->ij"(%h, %t) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = par.wait %s : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = arith.mulf %r, %g : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

func.func private @layer(%r: tensor<4x4xf32>, %acc: tensor<4x4xf32>) -> (tensor<4x4xf32> {par.place = #par.place<alias 1>}) attributes {par.local} {
  %d = par.einsum "ki,kj->ij"(%r, %r) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %n = arith.addf %acc, %d : tensor<4x4xf32>
  return %n : tensor<4x4xf32>
}

// The sum is made and reduced in the accumulator's memory, which is the gradient's: no copy, no buffer.
// CHECK-LABEL: rank.func @backward.last(
// CHECK-SAME: %[[R:[a-z0-9]+]]: !rank.buffer<64>, %[[ACC:[a-z0-9]+]]: !rank.buffer<64>, %[[OUT:[a-z0-9]+]]: !rank.buffer<64>)
// CHECK-NOT: rank.copy
// CHECK: rank.call @layer frame %{{.*}} ins(%[[R]], %[[ACC]] : {{.*}}) outs(%[[ACC]] : {{.*}})
// CHECK-NOT: rank.copy
// CHECK: %[[E:.*]] = rank.start ins(%[[ACC]] : {{.*}}) outs(%[[OUT]] :
// CHECK-NOT: rank.copy
// CHECK: rank.wait %[[E]]
// CHECK-NEXT: rank.return
func.func @backward.last(%r: tensor<4x4xf32> {par.place = #par.place<residual 0>}, %acc: tensor<4x4xf32> {par.place = #par.place<variable @acc>}) -> (tensor<4x4xf32> {par.place = #par.place<variable @grad>})
    attributes {par.local, par.phase = #par.phase<backward_last, chunk = 0>} {
  %0 = par.call @layer(%r, %acc) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = par.all_reduce sum over ["dp"] %0 {par.started} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = par.wait %1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

func.func @update(%w: tensor<4x4xf32> {par.place = #par.place<variable @w>}, %g: tensor<4x4xf32> {par.place = #par.place<variable @grad>}) -> (tensor<4x4xf32> {par.place = #par.place<variable @w>}) attributes {par.phase = #par.phase<update, chunk = 0>} {
  %n = arith.subf %w, %g : tensor<4x4xf32>
  return %n : tensor<4x4xf32>
}

// The last micro-batch's backward function reduces: there is no other.
// CHECK-LABEL: rank.schedule train
// CHECK: rank.action forward @forward
// CHECK-NEXT: rank.action backward_last @backward.last
// CHECK-NEXT: rank.action update @update
