// RUN: par-opt %s -split-input-file -par-insert-reshards | FileCheck %s

par.mesh @mesh <["dp"=2, "tp"=2]>
par.variable @w : tensor<8x8xf32> dims ["a", "b"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{"tp"}, {}]>, storage = #par.sharding<@mesh, [{"tp", "dp"}, {}]>}
par.variable @m : tensor<8x8xf32> dims ["a", "b"] {role = #par.role<moment>, of = @w, compute = #par.sharding<@mesh, [{"tp", "dp"}, {}]>, storage = #par.sharding<@mesh, [{"tp", "dp"}, {}]>}

// A parameter is read from its storage once, before its first use, and what is computed with it is not split over dp.
// CHECK-LABEL: func.func @read
// CHECK-SAME: par.bind = @w, par.sharding = #par.sharding<@mesh, [{"tp", "dp"}, {}]>
// CHECK-NEXT: math.tanh
// CHECK-NEXT: %[[W:.*]] = par.reshard %arg1 <@mesh, [{"tp"}, {}]> {par.cause = "read of @w, stored as {{\[}}{tp, dp}, {}] and computed with as {{\[}}{tp}, {}]"
// CHECK-NEXT: par.einsum "ij,kj->ik"(%{{.*}}, %[[W]])
// CHECK-NEXT: par.einsum "ij,kj->ik"(%{{.*}}, %[[W]])
// CHECK-NOT: par.reshard
func.func @read(%x: tensor<4x8xf32> {par.sharding = #par.sharding<@mesh, [{"dp"}, {}]>}, %w: tensor<8x8xf32> {par.bind = @w, par.sharding = #par.sharding<@mesh, [{"tp"}, {}]>})
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
func.func @update(%w: tensor<8x8xf32> {par.bind = @w, par.sharding = #par.sharding<@mesh, [{"tp"}, {}]>},
    %m: tensor<8x8xf32> {par.bind = @m, par.sharding = #par.sharding<@mesh, [{"tp", "dp"}, {}]>}) -> (tensor<8x8xf32> {par.bind = @w, par.sharding = #par.sharding<@mesh, [{"tp"}, {}]>}) {
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
func.func @write(%w: tensor<8xf32> {par.bind = @w, par.sharding = #par.sharding<@mesh, [{"dp"}]>}) -> (tensor<8xf32> {par.bind = @w, par.sharding = #par.sharding<@mesh, [{"dp"}]>}) {
  %0 = math.tanh %w {par.sharding = [#par.sharding<@mesh, [{"dp"}]>]} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
