// RUN: par-opt %s -par-select-residuals='recompute=auto limit=133119' | FileCheck %s --check-prefixes=CHECK,HOLD
// RUN: par-opt %s -par-select-residuals='recompute=auto limit=131071' | FileCheck %s --check-prefixes=CHECK,AGAIN

par.variable @ids : tensor<64xi32> dims ["d0"] {role = #par.role<step>}
// What a product takes (131072 bytes, of which a rank has a half as input) came over a link, so it is held longest: first the product's result (2048 bytes) is
// computed again, although that saves less.
// CHECK-LABEL: func.func private @layer(
// HOLD: par.constrain {{.*}}par.save = array<i64: 0>
// HOLD: par.einsum {{.*}}par.recompute
// AGAIN: par.constrain {{.*}}par.recompute
par.mesh @mesh <["tp"=2]>
par.variable @w : tensor<16x512xf32> dims ["mlp", "embed"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{"tp"}, {}]>}
par.variable @table : tensor<9x512xf32> dims ["vocab", "embed"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{}, {}]>}
func.func private @layer(%x: tensor<64x512xf32> {par.sharding = #par.sharding<@mesh, [{"tp"}, {}]>},
    %w: tensor<16x512xf32> {par.sharding = #par.sharding<@mesh, [{"tp"}, {}]>}) -> (tensor<64x16xf32> {par.sharding = #par.sharding<@mesh, [{}, {"tp"}]>}) {
  %whole = par.constrain %x <@mesh, [{}, {?}]> {par.sharding = [#par.sharding<@mesh, [{}, {}]>]} : tensor<64x512xf32>
  %u = par.einsum "se,me->sm"(%whole, %w) {par.sharding = [#par.sharding<@mesh, [{}, {"tp"}]>]} : (tensor<64x512xf32>, tensor<16x512xf32>) -> tensor<64x16xf32>
  %y = math.sin %u {par.sharding = [#par.sharding<@mesh, [{}, {"tp"}]>]} : tensor<64x16xf32>
  return %y : tensor<64x16xf32>
}
func.func @forward(%ids: tensor<64xi32> {par.place = #par.place<variable @ids>, par.sharding = #par.sharding<@mesh, [{}]>},
    %table: tensor<9x512xf32> {par.place = #par.place<variable @table>, par.sharding = #par.sharding<@mesh, [{}, {}]>},
    %w: tensor<16x512xf32> {par.place = #par.place<variable @w>, par.sharding = #par.sharding<@mesh, [{"tp"}, {}]>}) -> (tensor<f32> {par.place = #par.place<output loss>})
    attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %x = par.embedding %ids, %table {par.sharding = [#par.sharding<@mesh, [{"tp"}, {}]>]} : (tensor<64xi32>, tensor<9x512xf32>) -> tensor<64x512xf32>
  %y = par.call @layer(%x, %w) {par.sharding = [#par.sharding<@mesh, [{}, {"tp"}]>]} : (tensor<64x512xf32>, tensor<16x512xf32>) -> tensor<64x16xf32>
  %loss = par.reduce sum %y dims [0, 1] {par.sharding = [#par.sharding<@mesh, []>]} : tensor<64x16xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
