// RUN: par-opt %s -split-input-file -par-verify-shardings=derived=true -verify-diagnostics

// Where reshards are explicit, variables are accessed as they are stored, and a sum is complete behind a reshard. Nothing is said.
par.mesh @mesh <["dp"=2, "tp"=2]>
par.variable @w : tensor<4x4xf32> dims ["mlp", "embed"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{"tp"}, {}]>, storage = #par.sharding<@mesh, [{"tp", "dp"}, {}]>}
func.func @stored(%x: tensor<2x4xf32> {par.sharding = #par.sharding<@mesh, [{}, {"tp"}]>},
                  %w: tensor<4x4xf32> {par.place = #par.place<variable @w>, par.sharding = #par.sharding<@mesh, [{"tp", "dp"}, {}]>})
    -> (tensor<2x4xf32> {par.sharding = #par.sharding<@mesh, [{}, {}]>}) {
  %g = par.reshard %w <@mesh, [{"tp"}, {}]> {par.sharding = [#par.sharding<@mesh, [{"tp"}, {}]>]} : tensor<4x4xf32> -> tensor<4x4xf32>
  %y = par.einsum "bm,me->be"(%x, %g) {par.sharding = [#par.sharding<@mesh, [{}, {}], unreduced={"tp"}>]} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %c = par.reshard %y <@mesh, [{}, {}]> {par.sharding = [#par.sharding<@mesh, [{}, {}]>]} : tensor<2x4xf32> -> tensor<2x4xf32>
  return %c : tensor<2x4xf32>
}

// -----

// A sum that nobody says is one would never be completed.
par.mesh @mesh <["tp"=2]>
func.func @silent(%x: tensor<2x4xf32> {par.sharding = #par.sharding<@mesh, [{}, {"tp"}]>}) -> (tensor<2xf32> {par.sharding = #par.sharding<@mesh, [{}]>}) {
  // expected-error @+1 {{shardings_c2: result 0 is #par.sharding<@mesh, [{}]>, but it is a sum over "tp" that is not complete; expected unreduced={"tp"}}}
  %y = par.reduce sum %x dims [1] {par.sharding = [#par.sharding<@mesh, [{}]>]} : tensor<2x4xf32> -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

par.mesh @mesh <["dp"=2]>
// expected-note @+1 {{the variable}}
par.variable @w : tensor<4xf32> dims ["embed"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{}]>, storage = #par.sharding<@mesh, [{"dp"}]>}
// expected-error @+1 {{shardings_c3: argument 0 of @computes accesses @w as #par.sharding<@mesh, [{}]>, expected #par.sharding<@mesh, [{"dp"}]>, its storage}}
func.func @computes(%w: tensor<4xf32> {par.place = #par.place<variable @w>, par.sharding = #par.sharding<@mesh, [{}]>}) {
  return
}
