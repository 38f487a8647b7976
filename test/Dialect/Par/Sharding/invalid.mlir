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
