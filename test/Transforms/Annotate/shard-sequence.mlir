// RUN: par-opt %s -split-input-file -par-shard-sequence | FileCheck %s

// A vocabulary-parallel lookup, then norm, column-parallel and row-parallel products, residual: what sums over tp is split along seq for all users, what
// products take is whole once for both. The norm and the residual are left to propagation.
// CHECK-LABEL: func.func private @embed
// CHECK: %[[SUM:.*]] = par.embedding
// CHECK-NEXT: %[[WHOLE:.*]] = par.constrain %[[SUM]] <@mesh, [{?}, {}, {?}]>
// CHECK-NEXT: %[[SPLIT:.*]] = par.constrain %[[WHOLE]] <@mesh, [{?}, {"tp"}, {?}]>
// CHECK-NEXT: return %[[SPLIT]]
// CHECK-LABEL: func.func private @mlp
// CHECK: %[[NORM:.*]], %{{.*}} = par.rms_norm %arg0, %arg1
// CHECK-NEXT: %[[H:.*]] = par.constrain %[[NORM]] <@mesh, [{?}, {}, {?}]>
// CHECK-NEXT: %[[UP:.*]] = par.einsum "bse,me->bsm"(%[[H]], %arg2)
// CHECK-NEXT: %[[GATE:.*]] = par.einsum "bse,me->bsm"(%[[H]], %arg3)
// CHECK-NEXT: %[[M:.*]] = arith.mulf %[[UP]], %[[GATE]]
// CHECK-NEXT: %[[Y:.*]] = par.einsum "bsm,em->bse"(%[[M]], %arg4)
// CHECK-NEXT: %[[YW:.*]] = par.constrain %[[Y]] <@mesh, [{?}, {}, {?}]>
// CHECK-NEXT: %[[YS:.*]] = par.constrain %[[YW]] <@mesh, [{?}, {"tp"}, {?}]>
// CHECK-NEXT: arith.addf %arg0, %[[YS]]
par.mesh @mesh <["dp"=2, "tp"=2]>
par.variable @wte : tensor<32x8xf32> dims ["vocab", "embed"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{"tp"}, {}]>}
par.variable @n : tensor<8xf32> dims ["embed"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{}]>}
par.variable @up : tensor<16x8xf32> dims ["mlp", "embed"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{"tp"}, {}]>}
par.variable @gate : tensor<16x8xf32> dims ["mlp", "embed"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{"tp"}, {}]>}
par.variable @down : tensor<8x16xf32> dims ["embed", "mlp"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{}, {"tp"}]>}
func.func private @embed(%t: tensor<4x6xi32>, %w: tensor<32x8xf32>) -> tensor<4x6x8xf32> {
  %0 = par.embedding %t, %w : (tensor<4x6xi32>, tensor<32x8xf32>) -> tensor<4x6x8xf32>
  return %0 : tensor<4x6x8xf32>
}
func.func private @mlp(%x: tensor<4x6x8xf32>, %n: tensor<8xf32>, %u: tensor<16x8xf32>, %g: tensor<16x8xf32>, %d: tensor<8x16xf32>) -> tensor<4x6x8xf32> {
  %h, %r = par.rms_norm %x, %n {eps = 1.0e-05 : f64} : (tensor<4x6x8xf32>, tensor<8xf32>) -> (tensor<4x6x8xf32>, tensor<4x6xf32>)
  %0 = par.einsum "bse,me->bsm"(%h, %u) : (tensor<4x6x8xf32>, tensor<16x8xf32>) -> tensor<4x6x16xf32>
  %1 = par.einsum "bse,me->bsm"(%h, %g) : (tensor<4x6x8xf32>, tensor<16x8xf32>) -> tensor<4x6x16xf32>
  %2 = arith.mulf %0, %1 : tensor<4x6x16xf32>
  %3 = par.einsum "bsm,em->bse"(%2, %d) : (tensor<4x6x16xf32>, tensor<8x16xf32>) -> tensor<4x6x8xf32>
  %4 = arith.addf %x, %3 : tensor<4x6x8xf32>
  return %4 : tensor<4x6x8xf32>
}
func.func @forward(%t: tensor<4x6xi32> {par.place = #par.place<input tokens>, par.dims = ["batch", "seq"]}, %w: tensor<32x8xf32> {par.place = #par.place<variable @wte>}, %n: tensor<8xf32> {par.place = #par.place<variable @n>},
    %u: tensor<16x8xf32> {par.place = #par.place<variable @up>}, %g: tensor<16x8xf32> {par.place = #par.place<variable @gate>}, %d: tensor<8x16xf32> {par.place = #par.place<variable @down>}) -> tensor<4x6x8xf32> attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %0 = par.call @embed(%t, %w) : (tensor<4x6xi32>, tensor<32x8xf32>) -> tensor<4x6x8xf32>
  %1 = par.call @mlp(%0, %n, %u, %g, %d) : (tensor<4x6x8xf32>, tensor<8xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<8x16xf32>) -> tensor<4x6x8xf32>
  return %1 : tensor<4x6x8xf32>
}

// -----

// Without tp larger than one nothing changes.
// CHECK-LABEL: func.func @forward
// CHECK-NOT: par.constrain
par.mesh @mesh <["dp"=2, "tp"=1]>
par.variable @wte : tensor<32x8xf32> dims ["vocab", "embed"] {role = #par.role<parameter>}
func.func @forward(%t: tensor<4x6xi32> {par.place = #par.place<input tokens>, par.dims = ["batch", "seq"]}, %w: tensor<32x8xf32> {par.place = #par.place<variable @wte>}) -> tensor<4x6x8xf32> {
  %0 = par.embedding %t, %w : (tensor<4x6xi32>, tensor<32x8xf32>) -> tensor<4x6x8xf32>
  return %0 : tensor<4x6x8xf32>
}
