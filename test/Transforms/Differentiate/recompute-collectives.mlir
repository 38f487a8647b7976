// RUN: par-opt %s -split-input-file -par-select-residuals | FileCheck %s --check-prefixes=CHECK,KEEP
// RUN: par-opt %s -split-input-file -par-select-residuals=recompute=selective | FileCheck %s --check-prefixes=CHECK,KEEP
// RUN: par-opt %s -split-input-file -par-select-residuals=recompute=full | FileCheck %s --check-prefixes=CHECK,FULL
// RUN: par-opt %s -split-input-file -par-select-residuals=recompute=auto | FileCheck %s --check-prefix=HOLD --implicit-check-not=par.recompute{{[^_]}}
// RUN: par-opt %s -split-input-file -par-differentiate-pipeline='split=true' | FileCheck %s --check-prefix=SPLIT

// A product takes whole sequences, of which a rank has a half: the half is saved and gathered again, under every policy. What sums over ranks
// runs again under `full` alone.
// CHECK-LABEL: func.func private @layer(
// CHECK-SAME: %{{.*}}: tensor<4x2xf32> {par.save, par.sharding = #par.sharding<@mesh, [{"tp"}, {}]>}
// CHECK: par.constrain {{.*}}par.recompute
// KEEP: par.einsum "sm,em->se"(%{{.*}}, %{{.*}}) {par.sharding =
// FULL: par.einsum "sm,em->se"(%{{.*}}, %{{.*}}) {par.recompute
// KEEP: par.constrain %{{[0-9]+}} <@mesh, [{?}, {?}]> {par.sharding =
// FULL: par.constrain %{{[0-9]+}} <@mesh, [{?}, {?}]> {par.recompute
// KEEP: par.constrain %{{[0-9]+}} <@mesh, [{"tp"}, {?}]> {par.save = array<i64: 0>
// FULL: par.constrain %{{[0-9]+}} <@mesh, [{"tp"}, {?}]> {par.recompute

// Without a limit the fastest choice holds what was gathered.
// HOLD: par.constrain {{.*}}par.save = array<i64: 0>

par.variable @ids : tensor<4xi32> dims ["d0"] {role = #par.role<step>}
// The weight part gathers nothing: what the input part gathered is handed on.
// SPLIT-LABEL: func.func private @layer.backward_input(
// SPLIT: par.constrain
// SPLIT-LABEL: func.func private @layer.backward_weight(
// SPLIT-NOT: par.constrain
// SPLIT: return
par.mesh @mesh <["tp"=2]>
par.variable @up : tensor<6x2xf32> dims ["mlp", "embed"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{"tp"}, {}]>}
par.variable @down : tensor<2x6xf32> dims ["embed", "mlp"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{}, {"tp"}]>}
par.variable @table : tensor<4x2xf32> dims ["seq", "embed"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{}, {}]>}
func.func private @layer(%x: tensor<4x2xf32> {par.sharding = #par.sharding<@mesh, [{"tp"}, {}]>},
    %up: tensor<6x2xf32> {par.sharding = #par.sharding<@mesh, [{"tp"}, {}]>},
    %down: tensor<2x6xf32> {par.sharding = #par.sharding<@mesh, [{}, {"tp"}]>}) -> (tensor<4x2xf32> {par.sharding = #par.sharding<@mesh, [{"tp"}, {}]>}) {
  %whole = par.constrain %x <@mesh, [{}, {?}]> {par.sharding = [#par.sharding<@mesh, [{}, {}]>]} : tensor<4x2xf32>
  %u = par.einsum "se,me->sm"(%whole, %up) {par.sharding = [#par.sharding<@mesh, [{}, {"tp"}]>]} : (tensor<4x2xf32>, tensor<6x2xf32>) -> tensor<4x6xf32>
  %t = math.tanh %u {par.sharding = [#par.sharding<@mesh, [{}, {"tp"}]>]} : tensor<4x6xf32>
  %z = par.einsum "sm,em->se"(%t, %down) {par.sharding = [#par.sharding<@mesh, [{}, {}]>]} : (tensor<4x6xf32>, tensor<2x6xf32>) -> tensor<4x2xf32>
  %sum = par.constrain %z <@mesh, [{?}, {?}]> {par.sharding = [#par.sharding<@mesh, [{}, {}]>]} : tensor<4x2xf32>
  %half = par.constrain %sum <@mesh, [{"tp"}, {?}]> {par.sharding = [#par.sharding<@mesh, [{"tp"}, {}]>]} : tensor<4x2xf32>
  %y = math.sin %half {par.sharding = [#par.sharding<@mesh, [{"tp"}, {}]>]} : tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}
func.func @forward(%ids: tensor<4xi32> {par.place = #par.place<variable @ids>, par.sharding = #par.sharding<@mesh, [{}]>},
    %table: tensor<4x2xf32> {par.place = #par.place<variable @table>, par.sharding = #par.sharding<@mesh, [{}, {}]>},
    %up: tensor<6x2xf32> {par.place = #par.place<variable @up>, par.sharding = #par.sharding<@mesh, [{"tp"}, {}]>},
    %down: tensor<2x6xf32> {par.place = #par.place<variable @down>, par.sharding = #par.sharding<@mesh, [{}, {"tp"}]>}) -> (tensor<f32> {par.place = #par.place<output loss>})
    attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %x = par.embedding %ids, %table {par.sharding = [#par.sharding<@mesh, [{"tp"}, {}]>]} : (tensor<4xi32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %y = par.call @layer(%x, %up, %down) {par.sharding = [#par.sharding<@mesh, [{"tp"}, {}]>]} : (tensor<4x2xf32>, tensor<6x2xf32>, tensor<2x6xf32>) -> tensor<4x2xf32>
  %d = arith.mulf %y, %y {par.sharding = [#par.sharding<@mesh, [{"tp"}, {}]>]} : tensor<4x2xf32>
  %loss = par.reduce sum %d dims [0, 1] {par.sharding = [#par.sharding<@mesh, []>]} : tensor<4x2xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

par.variable @ids : tensor<6xi32> dims ["d0"] {role = #par.role<step>}
// A product of values alone, which `selective` would run again, but that sums over ranks: it is saved.
// CHECK-LABEL: func.func private @similarity(
// KEEP: par.einsum "se,te->st"{{.*}}par.save = array<i64: 0>
// FULL: par.einsum "se,te->st"{{.*}}par.recompute
par.mesh @mesh <["tp"=2]>
par.variable @up : tensor<2x6xf32> dims ["seq", "mlp"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{}, {"tp"}]>}
func.func private @similarity(%x: tensor<2x6xf32> {par.sharding = #par.sharding<@mesh, [{}, {"tp"}]>}) -> (tensor<2x2xf32> {par.sharding = #par.sharding<@mesh, [{}, {}]>}) {
  %s = par.einsum "se,te->st"(%x, %x) {par.sharding = [#par.sharding<@mesh, [{}, {}]>]} : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x2xf32>
  %y = math.sin %s {par.sharding = [#par.sharding<@mesh, [{}, {}]>]} : tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}
func.func @forward(%ids: tensor<6xi32> {par.place = #par.place<variable @ids>, par.sharding = #par.sharding<@mesh, [{}]>},
    %up: tensor<2x6xf32> {par.place = #par.place<variable @up>, par.sharding = #par.sharding<@mesh, [{}, {"tp"}]>}) -> (tensor<f32> {par.place = #par.place<output loss>})
    attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %x = par.softmax %up {par.sharding = [#par.sharding<@mesh, [{}, {"tp"}]>]} : tensor<2x6xf32>
  %y = par.call @similarity(%x) {par.sharding = [#par.sharding<@mesh, [{}, {}]>]} : (tensor<2x6xf32>) -> tensor<2x2xf32>
  %d = arith.mulf %y, %y {par.sharding = [#par.sharding<@mesh, [{}, {}]>]} : tensor<2x2xf32>
  %loss = par.reduce sum %d dims [0, 1] {par.sharding = [#par.sharding<@mesh, []>]} : tensor<2x2xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
