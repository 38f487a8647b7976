// RUN: par-opt %s -split-input-file -par-verify-shardings -verify-diagnostics

// A product over a split dimension is a sum over its axis; it passes through what is linear in it, and is whole behind a constraint. Nothing is said.
par.mesh @mesh <["tp"=2]>
par.variable @w : tensor<4x4xf32> dims ["mlp", "embed"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{"tp"}, {}]>}
func.func @sums(%x: tensor<2x4xf32> {par.sharding = #par.sharding<@mesh, [{}, {"tp"}]>},
                %w: tensor<4x4xf32> {par.place = #par.place<variable @w>, par.sharding = #par.sharding<@mesh, [{"tp"}, {}]>})
    -> (tensor<2x4xf32> {par.sharding = #par.sharding<@mesh, [{}, {}]>}) {
  %y = par.einsum "bm,me->be"(%x, %w) {par.sharding = [#par.sharding<@mesh, [{}, {}], unreduced={"tp"}>]} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %z = arith.addf %y, %y {par.sharding = [#par.sharding<@mesh, [{}, {}], unreduced={"tp"}>]} : tensor<2x4xf32>
  %c = par.constrain %z <@mesh, [{}, {}]> {par.sharding = [#par.sharding<@mesh, [{}, {}]>]} : tensor<2x4xf32>
  return %c : tensor<2x4xf32>
}

// -----

// An open dimension may still be split: what follows would cost something else.
par.mesh @mesh <["tp"=2]>
func.func @open(%x: tensor<4xf32> {par.sharding = #par.sharding<@mesh, [{}]>}) -> (tensor<4xf32> {par.sharding = #par.sharding<@mesh, [{}]>}) {
  // expected-error @+1 {{shardings_c1: result 0 of math.exp is #par.sharding<@mesh, [{?}]>, whose dimension 0 is open, expected a closed one; run par-propagate-shardings (--from propagate)}}
  %y = math.exp %x {par.sharding = [#par.sharding<@mesh, [{?}]>]} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// A function's result is a value like any other.
par.mesh @mesh <["tp"=2]>
// expected-error @+1 {{shardings_c1: result 0 of @bare has no sharding, expected a closed one; run par-propagate-shardings (--from propagate)}}
func.func @bare(%x: tensor<4xf32> {par.sharding = #par.sharding<@mesh, [{}]>}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

par.mesh @mesh <["tp"=2]>
// expected-error @+1 {{shardings_c1: compute of @w has no sharding}}
par.variable @w : tensor<4xf32> dims ["embed"] {role = #par.role<parameter>}

// -----

// The exponential of a part of a sum is no part of the sum's exponential.
par.mesh @mesh <["tp"=2]>
func.func @bent(%x: tensor<2x4xf32> {par.sharding = #par.sharding<@mesh, [{}, {"tp"}]>}) -> (tensor<2xf32> {par.sharding = #par.sharding<@mesh, [{}]>}) {
  // expected-note @+1 {{it is #par.sharding<@mesh, [{}], unreduced={"tp"}> here}}
  %y = par.reduce sum %x dims [1] {par.sharding = [#par.sharding<@mesh, [{}], unreduced={"tp"}>]} : tensor<2x4xf32> -> tensor<2xf32>
  // expected-error @+1 {{shardings_c2: operand 0 is a sum over "tp" that is not complete, and the op is linear in nothing; expected all operands of such a set to be unreduced over it, or a par.constrain before the op}}
  %z = math.exp %y {par.sharding = [#par.sharding<@mesh, [{}]>]} : tensor<2xf32>
  return %z : tensor<2xf32>
}

// -----

// An addition is linear in both operands at once: the whole one would be added on every rank.
par.mesh @mesh <["tp"=2]>
func.func @half(%x: tensor<2x4xf32> {par.sharding = #par.sharding<@mesh, [{}, {"tp"}]>}, %b: tensor<2xf32> {par.sharding = #par.sharding<@mesh, [{}]>})
    -> (tensor<2xf32> {par.sharding = #par.sharding<@mesh, [{}], unreduced={"tp"}>}) {
  // expected-note @+1 {{here}}
  %y = par.reduce sum %x dims [1] {par.sharding = [#par.sharding<@mesh, [{}], unreduced={"tp"}>]} : tensor<2x4xf32> -> tensor<2xf32>
  // expected-error @+1 {{shardings_c2: operand 0 is a sum over "tp" that is not complete, and the op is linear in {0, 1};}}
  %z = arith.addf %y, %b {par.sharding = [#par.sharding<@mesh, [{}], unreduced={"tp"}>]} : tensor<2xf32>
  return %z : tensor<2xf32>
}

// -----

// What passes through stays a sum.
par.mesh @mesh <["tp"=2]>
func.func @lost(%x: tensor<2x4xf32> {par.sharding = #par.sharding<@mesh, [{}, {"tp"}]>}) -> (tensor<2xf32> {par.sharding = #par.sharding<@mesh, [{}]>}) {
  %y = par.reduce sum %x dims [1] {par.sharding = [#par.sharding<@mesh, [{}], unreduced={"tp"}>]} : tensor<2x4xf32> -> tensor<2xf32>
  // expected-error @+1 {{shardings_c2: result 0 is #par.sharding<@mesh, [{}]>, but it is a sum over "tp" that is not complete; expected unreduced={"tp"}}}
  %z = arith.addf %y, %y {par.sharding = [#par.sharding<@mesh, [{}]>]} : tensor<2xf32>
  return %z : tensor<2xf32>
}

// -----

// Nothing was summed up.
par.mesh @mesh <["tp"=2, "dp"=2]>
func.func @made(%x: tensor<2x4xf32> {par.sharding = #par.sharding<@mesh, [{}, {"tp"}]>}) -> (tensor<2xf32> {par.sharding = #par.sharding<@mesh, [{}]>}) {
  // expected-error @+1 {{shardings_c2: result 0 is #par.sharding<@mesh, [{}], unreduced={"dp"}>, but the op makes no sum over "dp", and none passes through it; expected unreduced={"tp"}}}
  %y = par.reduce sum %x dims [1] {par.sharding = [#par.sharding<@mesh, [{}], unreduced={"dp"}>]} : tensor<2x4xf32> -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// A constraint completes.
par.mesh @mesh <["tp"=2]>
func.func @constrained(%x: tensor<2x4xf32> {par.sharding = #par.sharding<@mesh, [{}, {"tp"}]>}) -> (tensor<2xf32> {par.sharding = #par.sharding<@mesh, [{}]>}) {
  %y = par.reduce sum %x dims [1] {par.sharding = [#par.sharding<@mesh, [{}], unreduced={"tp"}>]} : tensor<2x4xf32> -> tensor<2xf32>
  // expected-error @+1 {{shardings_c2: result 0 is #par.sharding<@mesh, [{}], unreduced={"tp"}>, but the op gives no partial sums; leave out what is unreduced}}
  %z = par.constrain %y <@mesh, [{}]> {par.sharding = [#par.sharding<@mesh, [{}], unreduced={"tp"}>]} : tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// Caller and callee believe alike.
par.mesh @mesh <["tp"=2]>
// expected-note @+1 {{the function}}
func.func private @layer(%x: tensor<2xf32> {par.sharding = #par.sharding<@mesh, [{}]>}) -> (tensor<2xf32> {par.sharding = #par.sharding<@mesh, [{}]>}) {
  return %x : tensor<2xf32>
}
func.func @caller(%x: tensor<2x4xf32> {par.sharding = #par.sharding<@mesh, [{}, {"tp"}]>}) -> (tensor<2xf32> {par.sharding = #par.sharding<@mesh, [{}]>}) {
  %y = par.reduce sum %x dims [1] {par.sharding = [#par.sharding<@mesh, [{}], unreduced={"tp"}>]} : tensor<2x4xf32> -> tensor<2xf32>
  // expected-error @+1 {{shardings_c2: operand 0 is #par.sharding<@mesh, [{}], unreduced={"tp"}>, but argument 0 of @layer is #par.sharding<@mesh, [{}]>; expected both or neither to be unreduced over "tp"}}
  %z = par.call @layer(%y) {par.sharding = [#par.sharding<@mesh, [{}]>]} : (tensor<2xf32>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}

// -----

par.mesh @mesh <["tp"=2]>
// expected-note @+1 {{the function}}
func.func @returns(%x: tensor<2x4xf32> {par.sharding = #par.sharding<@mesh, [{}, {"tp"}]>}) -> (tensor<2xf32> {par.sharding = #par.sharding<@mesh, [{}]>}) {
  %y = par.reduce sum %x dims [1] {par.sharding = [#par.sharding<@mesh, [{}], unreduced={"tp"}>]} : tensor<2x4xf32> -> tensor<2xf32>
  // expected-error @+1 {{shardings_c2: operand 0 is #par.sharding<@mesh, [{}], unreduced={"tp"}>, but result 0 of @returns is #par.sharding<@mesh, [{}]>}}
  return %y : tensor<2xf32>
}

// -----

// Inputs are whole.
par.mesh @mesh <["dp"=2]>
// expected-error @+1 {{shardings_c2: argument 0 of @input is the input "loss_scale", which is no sum, but #par.sharding<@mesh, [], unreduced={"dp"}>; leave out what is unreduced}}
func.func @input(%x: tensor<f32> {par.place = #par.place<input loss_scale>, par.sharding = #par.sharding<@mesh, [], unreduced={"dp"}>}) {
  return
}

// -----

// A variable has one sharding, whoever accesses it.
par.mesh @mesh <["tp"=2]>
// expected-note @+1 {{the variable}}
par.variable @w : tensor<4xf32> dims ["embed"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{}]>}
// expected-error @+1 {{shardings_c3: argument 0 of @reads accesses @w as #par.sharding<@mesh, [{"tp"}]>, expected #par.sharding<@mesh, [{}]>, its compute; give both one sharding, and computation another one by par.constrain}}
func.func @reads(%w: tensor<4xf32> {par.place = #par.place<variable @w>, par.sharding = #par.sharding<@mesh, [{"tp"}]>}) {
  return
}

// -----

par.mesh @mesh <["tp"=2]>
// expected-note @+1 {{the variable}}
par.variable @w : tensor<4xf32> dims ["embed"] {role = #par.role<step>, compute = #par.sharding<@mesh, [{}]>}
// expected-error @+1 {{shardings_c3: result 0 of @writes accesses @w as}}
func.func @writes(%w: tensor<4xf32> {par.sharding = #par.sharding<@mesh, [{"tp"}]>}) -> (tensor<4xf32> {par.place = #par.place<variable @w>, par.sharding = #par.sharding<@mesh, [{"tp"}]>}) {
  return %w : tensor<4xf32>
}

// -----

// Without a mesh there are no axes.
// expected-error @+1 {{par-verify-shardings: the module has no par.mesh; run par-set-mesh first}}
module {}
