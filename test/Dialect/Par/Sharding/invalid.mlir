// RUN: par-opt %s -split-input-file -verify-diagnostics -o /dev/null

par.mesh @mesh <["dp"=2]>
func.func @constrain_c1(%x: tensor<8xf32>) {
  // expected-error @+1 {{constrain_c1: sharding_c1: axis "tp" is not one of the mesh}}
  %0 = par.constrain %x <@mesh, [{"tp"}]> : tensor<8xf32>
  return
}

// -----

par.mesh @mesh <["dp"=2]>
func.func @reshard_c1_type(%x: tensor<8xf32>) {
  // expected-error @+1 {{reshard_c1: 'tensor<8xf32>' and 'tensor<8xbf16>' differ in element type or rank}}
  %0 = par.reshard %x <@mesh, [{"dp"}]> : tensor<8xf32> -> tensor<8xbf16>
  return
}

// -----

par.mesh @mesh <["dp"=2]>
func.func @reshard_c1_padding(%x: tensor<6xf32>) {
  // expected-error @+1 {{reshard_c1: sizes 6 and 8 of dimension 0 must be equal or hold 8 (set `logical` where they are padded)}}
  %0 = par.reshard %x <@mesh, [{"dp"}]> : tensor<6xf32> -> tensor<8xf32>
  return
}

// -----

par.mesh @mesh <["dp"=2]>
func.func @reshard_c1_logical(%x: tensor<6xf32>) {
  // expected-error @+1 {{reshard_c1: sizes 6 and 4 of dimension 0 must hold the logical size 5}}
  %1 = par.reshard %x <@mesh, [{"dp"}]> {logical = array<i64: 5>} : tensor<6xf32> -> tensor<4xf32>
  return
}

// -----

par.mesh @mesh <["dp"=2]>
func.func @reshard_c2(%x: tensor<8xf32>) {
  // expected-error @+1 {{reshard_c2: sharding_c3}}
  %0 = par.reshard %x <@mesh, [{}, {}]> : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @axis_index_c1() {
  // expected-error @+1 {{axis_index_c1: axis "dp" is not one of the mesh}}
  %0 = par.axis_index "dp" : tensor<i32>
  return
}

// -----

par.mesh @mesh <["dp"=2]>
func.func @sharding_c2(%x: tensor<8x8xf32>) {
  // expected-error @+1 {{sharding_c2: mesh axis "dp" is used twice}}
  %0 = par.constrain %x <@mesh, [{"dp"}, {"dp"}]> : tensor<8x8xf32>
  return
}

// -----

par.mesh @mesh <["dp"=2]>
func.func @sharding_c2_replicated(%x: tensor<8xf32>) {
  // expected-error @+1 {{sharding_c2: mesh axis "dp" is used twice}}
  %0 = par.constrain %x <@mesh, [{"dp"}], unreduced={"dp"}> : tensor<8xf32>
  return
}

// -----

// expected-error @+1 {{rule_c1: factor b is pass_through but result 0 lacks it; make it reduction, permutation or need_replication}}
func.func private @rule_c1() attributes {rule = #par.rule<([a, b])->([a]) {a=4, b=8}>}

// -----

par.mesh @mesh <["dp"=2]>
func.func @sharding_c4(%x: tensor<8xf32>) {
  // expected-error @+3 {{constrain_c1: sharding_c4: #par.sharding<@other, [{"dp"}, {"tp"}]> is over @other, the module's mesh is @mesh}}
  // expected-error @+2 {{constrain_c1: sharding_c3: #par.sharding<@other, [{"dp"}, {"tp"}]> has 2 dimensions, the tensor has 1}}
  // expected-error @+1 {{constrain_c1: sharding_c1: axis "tp" is not one of the mesh}}
  %0 = par.constrain %x <@other, [{"dp"}, {"tp"}]> : tensor<8xf32>
  return
}

// -----

// expected-error @+1 {{mesh view "dp" has the name of the axis "dp.0" or of what it is a part of; give it another}}
par.mesh @mesh <["dp.0"=2, "dp.1"=2], {dp = ["dp.1"]}>

// -----

// expected-error @+1 {{mesh view "ep" is empty or appears twice}}
par.mesh @mesh <["dp"=2, "tp"=2], {ep = ["dp"], ep = ["tp"]}>

// -----

// expected-error @+1 {{mesh view "ep": "cp" is not an axis of the mesh, or appears twice}}
par.mesh @mesh <["dp"=2, "tp"=2], {ep = ["dp", "cp"]}>

// -----

// A view and an axis that it has.
par.mesh @mesh <["dp.0"=2, "dp.1"=2, "tp"=2], {ep = ["dp.1", "tp"]}>
func.func @sharding_c2_view(%x: tensor<8x8xf32>) {
  // expected-error @+1 {{constrain_c1: sharding_c2: mesh axis "tp", which "tp" has, is used twice}}
  %0 = par.constrain %x <@mesh, [{"ep"}, {"tp"}]> : tensor<8x8xf32>
  return
}

// -----

// The parts of an axis are a view of it, too.
par.mesh @mesh <["dp.0"=2, "dp.1"=2, "tp"=2], {ep = ["dp.1", "tp"]}>
func.func @sharding_c2_parts(%x: tensor<8x8xf32>) {
  // expected-error @+1 {{constrain_c1: sharding_c2: mesh axis "dp.1", which "ep" has, is used twice}}
  %1 = par.constrain %x <@mesh, [{"dp"}, {"ep"}]> : tensor<8x8xf32>
  return
}
