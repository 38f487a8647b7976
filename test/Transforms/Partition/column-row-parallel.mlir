// RUN: par-opt %s -par-propagate-shardings -par-insert-reshards | FileCheck %s --check-prefix=RESHARD
// RUN: par-opt %s -par-propagate-shardings -par-insert-reshards -par-pad-for-sharding -par-partition -par-optimize-collectives -par-join-collectives -par-normalize-collectives -par-verify-partitioned | FileCheck %s --check-prefix=LOCAL
// RUN: par-opt %s -par-propagate-shardings -par-insert-reshards -par-pad-for-sharding -par-partition="explain=1" -verify-diagnostics -o /dev/null

// ColumnParallelLinear, tanh, RowParallelLinear with non-zero biases: one all-reduce after the second product; the row bias is added once, after it.
// RESHARD-LABEL: func.func @pair
// RESHARD: %[[P:.*]] = par.einsum "bm,em->be"{{.*}}unreduced={"tp"}
// RESHARD: %[[R:.*]] = par.reshard %[[P]] <@mesh, [{"dp"}, {}]>
// RESHARD: arith.addf %[[R]]

// LOCAL-LABEL: func.func @pair
// LOCAL-SAME: tensor<4x4xf32>
// LOCAL: par.einsum "be,me->bm"{{.*}} -> tensor<4x8xf32>
// LOCAL-NOT: all_reduce
// LOCAL: %[[P:.*]] = par.einsum "bm,em->be"{{.*}} -> tensor<4x4xf32>
// LOCAL: %[[R:.*]] = par.all_reduce sum over ["tp"] %[[P]]
// LOCAL: arith.addf %[[R]]
// LOCAL-NOT: all_reduce
par.mesh @mesh <["dp"=2, "tp"=2]>
func.func @pair(%x: tensor<8x4xf32> {par.sharding = #par.sharding<@mesh, [{"dp"}, {}]>},
                %up: tensor<16x4xf32> {par.sharding = #par.sharding<@mesh, [{"tp"}, {}]>}, %up_bias: tensor<16xf32>,
                %down: tensor<4x16xf32>, %down_bias: tensor<4xf32>) -> tensor<8x4xf32> {
  %h0 = par.einsum "be,me->bm"(%x, %up) : (tensor<8x4xf32>, tensor<16x4xf32>) -> tensor<8x16xf32>
  %b0 = par.expand %up_bias dims [0] : tensor<16xf32> -> tensor<8x16xf32>
  %h1 = arith.addf %h0, %b0 : tensor<8x16xf32>
  %a = math.tanh %h1 : tensor<8x16xf32>
  // expected-remark @below {{all_reduce over tp, 64 bytes per rank: einsum "bm,em->be" sums over tp <- annotation of argument 1 of @pair}}
  %y0 = par.einsum "bm,em->be"(%a, %down) : (tensor<8x16xf32>, tensor<4x16xf32>) -> tensor<8x4xf32>
  %b1 = par.expand %down_bias dims [0] : tensor<4xf32> -> tensor<8x4xf32>
  %y = arith.addf %y0, %b1 : tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
