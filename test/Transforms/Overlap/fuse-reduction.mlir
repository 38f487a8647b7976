// RUN: par-opt %s --par-fuse-reduction=micro-batches=2 | FileCheck %s --implicit-check-not="func.func @reduce"
// RUN: par-opt %s --par-fuse-reduction | FileCheck %s --check-prefix=ONE --implicit-check-not="func.func @backward(" --implicit-check-not="func.func @reduce"
// RUN: not par-opt %s --par-fuse-reduction=micro-batches=0 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: error: par-fuse-reduction: micro-batches is 0, expected at least 1

par.mesh @mesh <["dp"=2]>
par.variable @w : tensor<4xf32> dims ["embed"] {role = #par.role<parameter>}
par.variable @w.accumulator : tensor<4xf32> dims ["embed"] {role = #par.role<accumulator>, of = @w}
par.variable @w.gradient : tensor<4xf32> dims ["embed"] {role = #par.role<gradient>, of = @w, alias = @w.accumulator}
par.variable @v : tensor<4xf32> dims ["embed"] {role = #par.role<parameter>}
par.variable @v.accumulator : tensor<4xf32> dims ["embed"] {role = #par.role<accumulator>, of = @v}
par.variable @v.gradient : tensor<4xf32> dims ["embed"] {role = #par.role<gradient>, of = @v, alias = @v.accumulator, storage = #par.sharding<@mesh, [{"dp"}]>}

// The function for all but the last micro-batch stays.
// CHECK-LABEL: func.func @backward(
// CHECK: return %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>
func.func @backward(%dy: tensor<4xf32> {par.place = #par.place<residual 0>}, %w: tensor<4xf32> {par.place = #par.place<variable @w.accumulator>}, %v: tensor<4xf32> {par.place = #par.place<variable @v.accumulator>})
    -> (tensor<4xf32> {par.place = #par.place<variable @w.accumulator>}, tensor<4xf32> {par.place = #par.place<variable @v.accumulator>}) attributes {par.local, par.phase = #par.phase<backward, chunk = 0>} {
  %0 = arith.addf %w, %dy : tensor<4xf32>
  %1 = arith.addf %v, %dy : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
// @w's sum lies where its gradient goes; @v's gradient is a part, so its sum keeps its own memory. What only @reduce reads is one more argument.
// CHECK-LABEL: func.func @backward.last(
// CHECK-SAME: %[[SCALE:[a-z0-9]*]]: tensor<f32> {par.place = #par.place<input loss_scale>})
// CHECK-SAME: -> (tensor<4xf32> {par.place = #par.place<variable @v.accumulator>}, tensor<4xf32> {par.place = #par.place<variable @w.gradient>}, tensor<2xf32> {par.place = #par.place<variable @v.gradient>}, tensor<f32> {par.place = #par.place<output loss>})
// CHECK-SAME: par.phase = #par.phase<backward_last, chunk = 0>
// CHECK: %[[W:.*]] = arith.addf %arg1, %arg0
// CHECK: %[[V:.*]] = arith.addf %arg2, %arg0
// CHECK: %[[GW:.*]] = par.all_reduce sum over ["dp"] %[[W]]
// CHECK: %[[GV:.*]] = par.reduce_scatter over ["dp"] dim 0 %[[V]]
// CHECK: return %[[V]], %[[GW]], %[[GV]], %[[SCALE]]
// ONE-LABEL: func.func @backward.last(
func.func @reduce(%w: tensor<4xf32> {par.place = #par.place<variable @w.accumulator>}, %v: tensor<4xf32> {par.place = #par.place<variable @v.accumulator>}, %scale: tensor<f32> {par.place = #par.place<input loss_scale>})
    -> (tensor<4xf32> {par.place = #par.place<variable @w.gradient>}, tensor<2xf32> {par.place = #par.place<variable @v.gradient>}, tensor<f32> {par.place = #par.place<output loss>}) attributes {par.local, par.phase = #par.phase<reduce, chunk = 0>} {
  %0 = par.all_reduce sum over ["dp"] %w : (tensor<4xf32>) -> tensor<4xf32>
  %1 = par.reduce_scatter over ["dp"] dim 0 %v : (tensor<4xf32>) -> tensor<2xf32>
  return %0, %1, %scale : tensor<4xf32>, tensor<2xf32>, tensor<f32>
}
