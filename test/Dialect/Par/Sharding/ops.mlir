// RUN: par-opt %s --verify-roundtrip | FileCheck %s

par.mesh @mesh <["dp"=2, "tp"=4]>

// CHECK-LABEL: func.func @sharding
func.func @sharding(%x: tensor<8x6xf32>) -> tensor<8x8xf32> {
  // CHECK: par.constrain %{{.*}} <@mesh, [{"dp"}, {?}], unreduced={"tp"}> : tensor<8x6xf32>
  %0 = par.constrain %x <@mesh, [{"dp"}, {?}], unreduced={"tp"}> : tensor<8x6xf32>
  // CHECK: par.axis_index "tp" : tensor<i32>
  %i = par.axis_index "tp" : tensor<i32>
  // CHECK: par.transfer %{{.*}} to <host> : tensor<8x6xf32>
  %1 = par.transfer %0 to <host> : tensor<8x6xf32>
  // Six columns are padded to eight for four shards.
  // CHECK: par.reshard %{{.*}} <@mesh, [{"dp"}, {"tp"}]> {logical = array<i64: 8, 6>, par.cause = "test"} : tensor<8x6xf32> -> tensor<8x8xf32>
  %2 = par.reshard %1 <@mesh, [{"dp"}, {"tp"}]> {logical = array<i64: 8, 6>, par.cause = "test"} : tensor<8x6xf32> -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
