// RUN: par-opt %s -split-input-file -par-shard-data -verify-diagnostics | FileCheck %s

par.mesh @mesh <["dp"=2, "tp"=2]>

// Only the dimension named "batch" of an input is split, scalars are not.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %arg0: tensor<8x4xi32> {par.dims = ["batch", "seq"], par.place = #par.place<input tokens>, par.sharding = #par.sharding<@mesh, [{"dp"}, {}]>}
// CHECK-SAME: %arg1: tensor<f32> {par.place = #par.place<input beta>, par.sharding = #par.sharding<@mesh, []>}
// CHECK-SAME: %arg2: tensor<4xf32>)
func.func @forward(%tokens: tensor<8x4xi32> {par.place = #par.place<input tokens>, par.dims = ["batch", "seq"]},
                   %beta: tensor<f32> {par.place = #par.place<input beta>}, %other: tensor<4xf32>) -> tensor<8x4xi32> {
  return %tokens : tensor<8x4xi32>
}

// -----

par.mesh @mesh <["dp"=3]>

// A batch that dp does not divide is refused.
// expected-error @below {{par-shard-data: the batch of 8 rows of input "tokens" is not divisible by dp=3}}
func.func @forward(%tokens: tensor<8x4xi32> {par.place = #par.place<input tokens>, par.dims = ["batch", "seq"]}) -> tensor<8x4xi32> {
  return %tokens : tensor<8x4xi32>
}

// -----

par.mesh @mesh <["dp"=2, "tp"=2]>

// What a strategy before has said of an input stays.
// CHECK-LABEL: func.func @annotated(
// CHECK-SAME: par.sharding = #par.sharding<@mesh, [{}, {"tp"}]>
func.func @annotated(%tokens: tensor<8x4xi32> {par.place = #par.place<input tokens>, par.dims = ["batch", "seq"], par.sharding = #par.sharding<@mesh, [{}, {"tp"}]>}) -> tensor<8x4xi32> {
  return %tokens : tensor<8x4xi32>
}
