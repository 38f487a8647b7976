// RUN: par-opt %s -split-input-file -par-propagate-shardings | FileCheck %s
// RUN: par-opt %s -split-input-file -par-propagate-shardings="explain=1" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY

// Axes flow from the input (batch) and the weight (columns) through both products; the contracted dimension keeps its axis in the second weight.
// CHECK-LABEL: func.func @pair
// CHECK: par.einsum "be,me->bm"{{.*}}[{"dp"}, {"tp"}]
// CHECK: math.tanh{{.*}}[{"dp"}, {"tp"}]
// CHECK: par.einsum "bm,em->be"{{.*}}[{"dp"}, {}]
// WHY: remark: result 0 dimension 1 is split over "tp" from "annotation of argument 1 of @pair"
par.mesh @mesh <["dp"=2, "tp"=2]>
func.func @pair(%x: tensor<8x4xf32> {par.sharding = #par.sharding<@mesh, [{"dp"}, {}]>},
                %up: tensor<16x4xf32> {par.sharding = #par.sharding<@mesh, [{"tp"}, {}]>},
                %down: tensor<4x16xf32>) -> tensor<8x4xf32> {
  %h = par.einsum "be,me->bm"(%x, %up) : (tensor<8x4xf32>, tensor<16x4xf32>) -> tensor<8x16xf32>
  %a = math.tanh %h : tensor<8x16xf32>
  %y = par.einsum "bm,em->be"(%a, %down) : (tensor<8x16xf32>, tensor<4x16xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

// Variables of different shardings passed to one function: each set gets its own version of it.
// CHECK: par.call @layer(%arg0, %arg1)
// CHECK: par.call @layer_0(
par.mesh @mesh <["tp"=2]>
par.variable @a : tensor<4x4xf32> dims ["mlp", "embed"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{"tp"}, {}]>}
par.variable @b : tensor<4x4xf32> dims ["embed", "mlp"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{}, {"tp"}]>}
func.func private @layer(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %y = par.einsum "be,me->bm"(%x, %w) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
func.func @forward(%x: tensor<2x4xf32>, %a: tensor<4x4xf32> {par.place = #par.place<variable @a>}, %b: tensor<4x4xf32> {par.place = #par.place<variable @b>}) -> tensor<2x4xf32> {
  %0 = par.call @layer(%x, %a) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %1 = par.call @layer(%0, %b) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}
