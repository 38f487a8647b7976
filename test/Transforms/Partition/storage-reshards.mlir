// RUN: par-opt %s -split-input-file -par-insert-reshards | FileCheck %s

par.mesh @mesh <["dp"=2, "tp"=2]>
par.variable @w : tensor<8x8xf32> dims ["a", "b"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{"tp"}, {}]>, storage = #par.sharding<@mesh, [{"tp", "dp"}, {}]>}
par.variable @m : tensor<8x8xf32> dims ["a", "b"] {role = #par.role<moment>, of = @w, compute = #par.sharding<@mesh, [{"tp", "dp"}, {}]>, storage = #par.sharding<@mesh, [{"tp", "dp"}, {}]>}

// A parameter is read from its storage once, before its first use, and what is computed with it is not split over dp.
// CHECK-LABEL: func.func @read
// CHECK-SAME: par.place = #par.place<variable @w>, par.sharding = #par.sharding<@mesh, [{"tp", "dp"}, {}]>
// CHECK-NEXT: math.tanh
// CHECK-NEXT: %[[W:.*]] = par.reshard %arg1 <@mesh, [{"tp"}, {}]> {par.cause = "read of @w, stored as {{\[}}{tp, dp}, {}] and computed with as {{\[}}{tp}, {}]"
// CHECK-NEXT: par.einsum "ij,kj->ik"(%{{.*}}, %[[W]])
// CHECK-NEXT: par.einsum "ij,kj->ik"(%{{.*}}, %[[W]])
// CHECK-NOT: par.reshard
func.func @read(%x: tensor<4x8xf32> {par.sharding = #par.sharding<@mesh, [{"dp"}, {}]>}, %w: tensor<8x8xf32> {par.place = #par.place<variable @w>, par.sharding = #par.sharding<@mesh, [{"tp"}, {}]>})
    -> (tensor<4x8xf32> {par.sharding = #par.sharding<@mesh, [{"dp"}, {"tp"}]>}, tensor<4x8xf32> {par.sharding = #par.sharding<@mesh, [{"dp"}, {"tp"}]>}) {
  %t = math.tanh %x {par.sharding = [#par.sharding<@mesh, [{"dp"}, {}]>]} : tensor<4x8xf32>
  %a = par.einsum "ij,kj->ik"(%x, %w) {par.sharding = [#par.sharding<@mesh, [{"dp"}, {"tp"}]>]} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %b = par.einsum "ij,kj->ik"(%t, %w) {par.sharding = [#par.sharding<@mesh, [{"dp"}, {"tp"}]>]} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %a, %b : tensor<4x8xf32>, tensor<4x8xf32>
}

// An update computes where the state lies: the way to the compute sharding and back is none.
// CHECK-LABEL: func.func @update
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %arg0, %arg1
// CHECK-NEXT: return %[[SUM]]
func.func @update(%w: tensor<8x8xf32> {par.place = #par.place<variable @w>, par.sharding = #par.sharding<@mesh, [{"tp"}, {}]>},
    %m: tensor<8x8xf32> {par.place = #par.place<variable @m>, par.sharding = #par.sharding<@mesh, [{"tp", "dp"}, {}]>}) -> (tensor<8x8xf32> {par.place = #par.place<variable @w>, par.sharding = #par.sharding<@mesh, [{"tp"}, {}]>}) {
  %0 = arith.addf %w, %m {par.sharding = [#par.sharding<@mesh, [{"tp", "dp"}, {}]>]} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// Stored whole, computed in parts: what is written is gathered.
par.mesh @mesh <["dp"=2]>
par.variable @w : tensor<8xf32> dims ["a"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{"dp"}]>, storage = #par.sharding<@mesh, [{}]>}
// CHECK-LABEL: func.func @write
// CHECK-NEXT: %[[PART:.*]] = par.reshard %arg0 <@mesh, [{"dp"}]>
// CHECK-NEXT: %[[T:.*]] = math.tanh %[[PART]]
// CHECK-NEXT: %[[ALL:.*]] = par.reshard %[[T]] <@mesh, [{}]> {par.cause = "write of @w, stored as {{\[}}{}] and computed with as {{\[}}{dp}]"
// CHECK-NEXT: return %[[ALL]]
func.func @write(%w: tensor<8xf32> {par.place = #par.place<variable @w>, par.sharding = #par.sharding<@mesh, [{"dp"}]>}) -> (tensor<8xf32> {par.place = #par.place<variable @w>, par.sharding = #par.sharding<@mesh, [{"dp"}]>}) {
  %0 = math.tanh %w {par.sharding = [#par.sharding<@mesh, [{"dp"}]>]} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// What others use as it is stays the source of the next reshard: a sum is reduced once.
par.mesh @mesh <["tp"=2]>
// CHECK-LABEL: func.func @shared
// CHECK: %[[P:.*]] = par.einsum
// CHECK-NEXT: %[[ALL:.*]] = par.reshard %[[P]] <@mesh, [{}, {}]>
// CHECK-DAG: par.reshard %[[ALL]] <@mesh, [{"tp"}, {}]>
// CHECK-DAG: math.cos %[[ALL]]
func.func @shared(%x: tensor<4x8xf32> {par.sharding = #par.sharding<@mesh, [{}, {"tp"}]>}, %v: tensor<8x2xf32> {par.sharding = #par.sharding<@mesh, [{"tp"}, {}]>})
    -> (tensor<4x2xf32> {par.sharding = #par.sharding<@mesh, [{"tp"}, {}]>}, tensor<4x2xf32> {par.sharding = #par.sharding<@mesh, [{}, {}]>}) {
  %p = par.einsum "ij,jk->ik"(%x, %v) {par.sharding = [#par.sharding<@mesh, [{}, {}]>]} : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %c = par.constrain %p <@mesh, [{}, {}]> {par.sharding = [#par.sharding<@mesh, [{}, {}]>]} : tensor<4x2xf32>
  %a = math.tanh %c {par.sharding = [#par.sharding<@mesh, [{"tp"}, {}]>]} : tensor<4x2xf32>
  %b = math.cos %c {par.sharding = [#par.sharding<@mesh, [{}, {}]>]} : tensor<4x2xf32>
  return %a, %b : tensor<4x2xf32>, tensor<4x2xf32>
}
