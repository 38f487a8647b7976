// RUN: par-opt %s -pass-pipeline='builtin.module(func.func(par-form-kernels),par-to-rank,rank-plan-memory,rank-verify-program)' | FileCheck %s

par.variable @w : tensor<4x4xf32> dims ["a", "b"] {role = #par.role<parameter>, init = #par.init<zeros>}
par.variable @w.m : tensor<4x4xf32> dims ["a", "b"] {role = #par.role<moment>, of = @w, space = #par.space<host>}
par.variable @w.gradient : tensor<4x4xf32> dims ["a", "b"] {role = #par.role<gradient>, of = @w}

// State in host memory, what is brought there, and what is computed from both are pinned, in callees too; what comes back is not.
// CHECK-LABEL: rank.func @layer(
// CHECK-SAME: !rank.buffer<64, pinned>, %{{[a-z0-9]+}}: !rank.buffer<64, pinned>, %{{[a-z0-9]+}}: !rank.buffer<64, pinned>)
// CHECK: rank.kernel ins({{.*}} : !rank.buffer<64, pinned>, !rank.buffer<64, pinned>) outs({{.*}} : !rank.buffer<64, pinned>)
func.func private @layer(%m: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {par.local} {
  %0 = arith.mulf %m, %w : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
// CHECK-LABEL: rank.func @update(
// CHECK-SAME: %[[W:[a-z0-9]+]]: !rank.buffer<64>, %[[M:[a-z0-9]+]]: !rank.buffer<64, pinned>, %[[WOUT:[a-z0-9]+]]: !rank.buffer<64>, %[[MOUT:[a-z0-9]+]]: !rank.buffer<64, pinned>)
// CHECK: %[[THERE:.*]] = rank.alloc workspace {offset = {{[0-9]+}} : i64} : <64, pinned>
// CHECK: rank.copy %[[W]] to %[[THERE]]
// CHECK: %[[RESULT:.*]] = rank.alloc workspace {offset = {{[0-9]+}} : i64} : <64, pinned>
// CHECK: rank.alloc workspace {offset = 0 : i64} : <0>
// CHECK: rank.call @layer {{.*}} outs(%[[RESULT]] :
// CHECK: rank.copy %[[RESULT]] to %[[WOUT]] {{.*}}: !rank.buffer<64, pinned>, !rank.buffer<64>
func.func @update(%w: tensor<4x4xf32> {par.place = #par.place<variable @w>}, %m: tensor<4x4xf32> {par.place = #par.place<variable @w.m>})
    -> (tensor<4x4xf32> {par.place = #par.place<variable @w>}, tensor<4x4xf32> {par.place = #par.place<variable @w.m>}) attributes {par.local, par.phase = #par.phase<update, chunk = 0>} {
  %0 = par.transfer %w to <host> : tensor<4x4xf32>
  %1 = par.call @layer(%m, %0) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = par.transfer %1 to <device> : tensor<4x4xf32>
  return %2, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// The rest of a step.
func.func @forward(%w: tensor<4x4xf32> {par.place = #par.place<variable @w>}) -> (tensor<4x4xf32> {par.place = #par.place<residual 0>}) attributes {par.local, par.phase = #par.phase<forward, chunk = 0>} {
  return %w : tensor<4x4xf32>
}
func.func @backward(%r: tensor<4x4xf32> {par.place = #par.place<residual 0>}) -> (tensor<4x4xf32> {par.place = #par.place<variable @w.gradient>}) attributes {par.local, par.phase = #par.phase<backward, chunk = 0>} {
  return %r : tensor<4x4xf32>
}
func.func @reduce(%g: tensor<4x4xf32> {par.place = #par.place<variable @w.gradient>}) -> (tensor<4x4xf32> {par.place = #par.place<variable @w.gradient>}) attributes {par.local, par.phase = #par.phase<reduce, chunk = 0>} {
  return %g : tensor<4x4xf32>
}
