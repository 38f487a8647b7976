// RUN: par-opt %s -split-input-file -par-insert-reshards -verify-diagnostics | FileCheck %s

par.mesh @mesh <["tp"=2]>

// Two partial sums are added before they are reduced: one all-reduce instead of two.
// CHECK-LABEL: func.func @sum_of_partials
// CHECK: arith.addf{{.*}}unreduced={"tp"}
// CHECK-NEXT: par.reshard
// CHECK-NEXT: return
func.func @sum_of_partials(%x: tensor<4x8xf32> {par.sharding = #par.sharding<@mesh, [{}, {"tp"}]>},
    %v: tensor<8x2xf32> {par.sharding = #par.sharding<@mesh, [{"tp"}, {}]>},
    %w: tensor<8x2xf32> {par.sharding = #par.sharding<@mesh, [{"tp"}, {}]>}) -> (tensor<4x2xf32> {par.sharding = #par.sharding<@mesh, [{}, {}]>}) {
  %a = par.einsum "ij,jk->ik"(%x, %v) {par.sharding = [#par.sharding<@mesh, [{}, {}]>]} : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %b = par.einsum "ij,jk->ik"(%x, %w) {par.sharding = [#par.sharding<@mesh, [{}, {}]>]} : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %c = arith.addf %a, %b {par.sharding = [#par.sharding<@mesh, [{}, {}]>]} : tensor<4x2xf32>
  return %c : tensor<4x2xf32>
}

// A partial sum does not pass through an op that is not linear.
// CHECK-LABEL: func.func @not_linear
// CHECK: %[[P:.*]] = par.einsum
// CHECK-NEXT: %[[R:.*]] = par.reshard %[[P]]
// CHECK-NEXT: math.tanh %[[R]]
func.func @not_linear(%x: tensor<4x8xf32> {par.sharding = #par.sharding<@mesh, [{}, {"tp"}]>},
    %v: tensor<8x2xf32> {par.sharding = #par.sharding<@mesh, [{"tp"}, {}]>}) -> (tensor<4x2xf32> {par.sharding = #par.sharding<@mesh, [{}, {}]>}) {
  %a = par.einsum "ij,jk->ik"(%x, %v) {par.sharding = [#par.sharding<@mesh, [{}, {}]>]} : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %b = math.tanh %a {par.sharding = [#par.sharding<@mesh, [{}, {}]>]} : tensor<4x2xf32>
  return %b : tensor<4x2xf32>
}

// Nor through an outer product that is split over its axis: each rank would need all of the sum.
// CHECK-LABEL: func.func @outer_product
// CHECK: %[[P:.*]] = par.einsum
// CHECK-NEXT: %[[R:.*]] = par.reshard %[[P]]
// CHECK-NEXT: par.einsum "i,j->ij"(%[[R]],
func.func @outer_product(%x: tensor<4x8xf32> {par.sharding = #par.sharding<@mesh, [{}, {"tp"}]>},
    %v: tensor<8xf32> {par.sharding = #par.sharding<@mesh, [{"tp"}]>},
    %w: tensor<2xf32> {par.sharding = #par.sharding<@mesh, [{"tp"}]>}) -> (tensor<4x2xf32> {par.sharding = #par.sharding<@mesh, [{}, {"tp"}]>}) {
  %a = par.einsum "ij,j->i"(%x, %v) {par.sharding = [#par.sharding<@mesh, [{}]>]} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4xf32>
  %b = par.einsum "i,j->ij"(%a, %w) {par.sharding = [#par.sharding<@mesh, [{}, {"tp"}]>]} : (tensor<4xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  return %b : tensor<4x2xf32>
}

// A sharding that two uses want is made once.
// CHECK-LABEL: func.func @shared_gather
// CHECK-COUNT-1: par.reshard
// CHECK-NOT: par.reshard
func.func @shared_gather(%x: tensor<4x8xf32> {par.sharding = #par.sharding<@mesh, [{}, {"tp"}]>}) -> (tensor<4x8xf32> {par.sharding = #par.sharding<@mesh, [{}, {}]>}, tensor<4x8xf32> {par.sharding = #par.sharding<@mesh, [{}, {}]>}) {
  %a = par.softmax %x {par.sharding = [#par.sharding<@mesh, [{}, {}]>]} : tensor<4x8xf32>
  %b = par.softmax %x {par.sharding = [#par.sharding<@mesh, [{}, {}]>]} : tensor<4x8xf32>
  return %a, %b : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

par.mesh @mesh <["tp"=2]>
// expected-error @below {{par-insert-reshards: argument 0 has no sharding; run par-propagate-shardings first}}
func.func @unsharded(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// What is pending over an axis that the target does not name stays so where the sum is stored: an accumulator in parts over one axis is reduced over the other
// once per step. The sum goes into parts right where it is made.
par.mesh @mesh <["r"=2, "s"=2]>
par.variable @w : tensor<8x8xf32> dims ["a", "b"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{}, {}]>}
// CHECK: par.variable @acc {{.*}}storage = #par.sharding<@mesh, [{"s"}, {}], unreduced={"r"}>
par.variable @acc : tensor<8x8xf32> dims ["a", "b"] {role = #par.role<accumulator>, of = @w, compute = #par.sharding<@mesh, [{"s"}, {}]>, storage = #par.sharding<@mesh, [{"s"}, {}]>}
// CHECK-LABEL: func.func @accumulate
// CHECK: %[[DW:.*]] = par.einsum {{.*}}unreduced={"r", "s"}
// CHECK-NEXT: %[[PART:.*]] = par.reshard %[[DW]] <@mesh, [{"s"}, {}], unreduced={"r"}>
// CHECK-NEXT: arith.negf
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %arg2, %[[PART]]
// CHECK-NEXT: return %[[SUM]],
func.func @accumulate(%x: tensor<4x8xf32> {par.sharding = #par.sharding<@mesh, [{"r", "s"}, {}]>}, %dy: tensor<4x8xf32> {par.sharding = #par.sharding<@mesh, [{"r", "s"}, {}]>},
    %acc: tensor<8x8xf32> {par.place = #par.place<variable @acc>, par.sharding = #par.sharding<@mesh, [{"s"}, {}]>})
    -> (tensor<8x8xf32> {par.place = #par.place<variable @acc>, par.sharding = #par.sharding<@mesh, [{"s"}, {}]>}, tensor<4x8xf32> {par.sharding = #par.sharding<@mesh, [{"r", "s"}, {}]>}) {
  %0 = par.einsum "ki,kj->ij"(%dy, %x) {par.sharding = [#par.sharding<@mesh, [{}, {}]>]} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %1 = arith.negf %x {par.sharding = [#par.sharding<@mesh, [{"r", "s"}, {}]>]} : tensor<4x8xf32>
  %2 = arith.addf %acc, %0 {par.sharding = [#par.sharding<@mesh, [{"s"}, {}]>]} : tensor<8x8xf32>
  return %2, %1 : tensor<8x8xf32>, tensor<4x8xf32>
}
