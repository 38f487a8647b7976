// RUN: par-opt %s -par-pad-for-sharding -par-partition | FileCheck %s

par.mesh @mesh <["x"=2, "y"=2]>

// Partial sums that the target splits become a reduce-scatter.
// CHECK-LABEL: func.func @scatter
// CHECK: par.reduce_scatter over ["x"] dim 0
// CHECK-NOT: all_reduce
func.func @scatter(%v: tensor<8x4xf32> {par.sharding = #par.sharding<@mesh, [{}, {}], unreduced={"x"}>}) -> (tensor<8x4xf32> {par.sharding = #par.sharding<@mesh, [{"x"}, {}]>}) {
  %r = par.reshard %v <@mesh, [{"x"}, {}]> {par.sharding = [#par.sharding<@mesh, [{"x"}, {}]>]} : tensor<8x4xf32> -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// An axis that moves between dimensions is an all-to-all.
// CHECK-LABEL: func.func @exchange
// CHECK: par.all_to_all over ["x"] split 1 concat 0
func.func @exchange(%v: tensor<8x4xf32> {par.sharding = #par.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x4xf32> {par.sharding = #par.sharding<@mesh, [{}, {"x"}]>}) {
  %r = par.reshard %v <@mesh, [{}, {"x"}]> {par.sharding = [#par.sharding<@mesh, [{}, {"x"}]>]} : tensor<8x4xf32> -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// Splitting costs nothing; it comes before the gather of another dimension, so that less is gathered.
// CHECK-LABEL: func.func @slice_then_gather
// CHECK: par.all_slice over ["y"] dim 1
// CHECK: par.all_gather over ["x"] dim 0
func.func @slice_then_gather(%v: tensor<8x4xf32> {par.sharding = #par.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x4xf32> {par.sharding = #par.sharding<@mesh, [{}, {"y"}]>}) {
  %r = par.reshard %v <@mesh, [{}, {"y"}]> {par.sharding = [#par.sharding<@mesh, [{}, {"y"}]>]} : tensor<8x4xf32> -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// Gathering a padded dimension cuts the padding off.
// CHECK-LABEL: func.func @cut
// CHECK: par.all_gather over ["x"] dim 0 {{.*}} -> tensor<6x4xf32>
// CHECK: par.slice {{.*}} -> tensor<5x4xf32>
func.func @cut(%v: tensor<5x4xf32> {par.sharding = #par.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<5x4xf32> {par.sharding = #par.sharding<@mesh, [{}, {}]>}) {
  %r = par.reshard %v <@mesh, [{}, {}]> {par.sharding = [#par.sharding<@mesh, [{}, {}]>]} : tensor<5x4xf32> -> tensor<5x4xf32>
  return %r : tensor<5x4xf32>
}
