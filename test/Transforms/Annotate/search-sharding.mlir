// REQUIRES: cbc
// RUN: par-opt %s "-pass-pipeline=builtin.module(par-search-sharding{parameter-limit=3648 explain=true})" 2>&1 | FileCheck %s
// RUN: par-opt %s -par-search-sharding | FileCheck %s --check-prefix=LEAST
// RUN: par-opt %s "-pass-pipeline=builtin.module(par-search-sharding{parameter-limit=3647})" | FileCheck %s --check-prefix=LEAST
// RUN: par-opt %s "-pass-pipeline=builtin.module(par-search-sharding{parameter-limit=6000})" | FileCheck %s --check-prefix=LAYER
// RUN: par-opt %s "-pass-pipeline=builtin.module(par-search-sharding{parameter-limit=40000})" | FileCheck %s --check-prefix=ALL
// RUN: not par-opt %s "-pass-pipeline=builtin.module(par-search-sharding{parameter-limit=3000})" 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: not par-opt %s "-pass-pipeline=builtin.module(par-search-sharding{parameter-limit=-1})" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: sed 's/"tp"=4/"dp"=4/' %s | par-opt -par-search-sharding | FileCheck %s --check-prefix=NONE --implicit-check-not=compute
// RUN: sed '/@up :/s/{role/{compute = #par.sharding<@mesh, [{}, {"tp"}]>, role/' %s | par-opt -par-search-sharding | FileCheck %s --check-prefix=KEPT

// Dimensions have no names. With just the room for the table of positions: column- and row-parallel, the column's bias with its column, the table by its rows.
// CHECK: remark: par-search-sharding: 4 of 7 parameters are split over tp=4, 3648 bytes per rank of at least 3120, {{[0-9.]+}} us a step
// CHECK: par.variable @table {{.*}}compute = #par.sharding<@mesh, [{"tp"}, {}]>
// CHECK: par.variable @positions {{.*}}compute = #par.sharding<@mesh, [{}, {}]>
// CHECK: par.variable @scale {{.*}}compute = #par.sharding<@mesh, [{}]>
// CHECK: par.variable @up : {{.*}}compute = #par.sharding<@mesh, [{"tp"}, {}]>
// CHECK: par.variable @up_bias {{.*}}compute = #par.sharding<@mesh, [{"tp"}]>
// CHECK: par.variable @down : {{.*}}compute = #par.sharding<@mesh, [{}, {"tp"}]>
// CHECK: par.variable @down_bias {{.*}}compute = #par.sharding<@mesh, [{}]>

// By default memory is within a twentieth of the least, and with a byte less than that room there is no other plan: everything but the norm is split, and so is the residual between layers.
// LEAST: par.variable @table {{.*}}compute = #par.sharding<@mesh, [{}, {"tp"}]>
// LEAST: par.variable @positions {{.*}}compute = #par.sharding<@mesh, [{}, {"tp"}]>
// LEAST: par.variable @scale {{.*}}compute = #par.sharding<@mesh, [{}]>
// LEAST: par.variable @down_bias {{.*}}compute = #par.sharding<@mesh, [{"tp"}]>

// With more room the layer alone is split: a collective for each direction.
// LAYER: par.variable @table {{.*}}compute = #par.sharding<@mesh, [{}, {}]>
// LAYER: par.variable @up : {{.*}}compute = #par.sharding<@mesh, [{"tp"}, {}]>
// LAYER: par.variable @down : {{.*}}compute = #par.sharding<@mesh, [{}, {"tp"}]>

// With room for all, nothing is: with so little work ranks would only wait for each other.
// ALL-COUNT-7: compute = #par.sharding<@mesh, [{}{{(, [{][}])?}}]>

// SHORT: error: par-search-sharding: parameters take at least 3120 bytes of each rank over tp=4, but the limit of parameters is 3000; give at least 3120, or more ranks
// SHORT-NOT: error:

// NEGATIVE: error: par-search-sharding: parameter-limit is -1, expected a number of bytes, or 0 for none

// NONE: par.variable @up : tensor<64x16xf32> dims ["", ""] {role = #par.role<parameter>}

// What is written on a parameter stays.
// KEPT: par.variable @up : {{.*}}compute = #par.sharding<@mesh, [{}, {"tp"}]>

par.mesh @mesh <["tp"=4]>
par.variable @table : tensor<48x16xf32> dims ["", ""] {role = #par.role<parameter>}
par.variable @positions : tensor<10x16xf32> dims ["", ""] {role = #par.role<parameter>}
par.variable @scale : tensor<16xf32> dims [""] {role = #par.role<parameter>}
par.variable @up : tensor<64x16xf32> dims ["", ""] {role = #par.role<parameter>}
par.variable @up_bias : tensor<64xf32> dims [""] {role = #par.role<parameter>}
par.variable @down : tensor<16x64xf32> dims ["", ""] {role = #par.role<parameter>}
par.variable @down_bias : tensor<16xf32> dims [""] {role = #par.role<parameter>}
func.func @forward(%tokens: tensor<4x10xi32> {par.place = #par.place<input tokens>}, %targets: tensor<4x10xi32> {par.place = #par.place<input targets>},
                   %table: tensor<48x16xf32> {par.place = #par.place<variable @table>}, %positions: tensor<10x16xf32> {par.place = #par.place<variable @positions>},
                   %scale: tensor<16xf32> {par.place = #par.place<variable @scale>},
                   %up: tensor<64x16xf32> {par.place = #par.place<variable @up>}, %up_bias: tensor<64xf32> {par.place = #par.place<variable @up_bias>},
                   %down: tensor<16x64xf32> {par.place = #par.place<variable @down>}, %down_bias: tensor<16xf32> {par.place = #par.place<variable @down_bias>})
    -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %token = par.embedding %tokens, %table : (tensor<4x10xi32>, tensor<48x16xf32>) -> tensor<4x10x16xf32>
  %ids = par.iota dim 0 : tensor<10xi32>
  %place = par.embedding %ids, %positions : (tensor<10xi32>, tensor<10x16xf32>) -> tensor<10x16xf32>
  %places = par.expand %place dims [0] : tensor<10x16xf32> -> tensor<4x10x16xf32>
  %x = arith.addf %token, %places : tensor<4x10x16xf32>
  %n, %rstd = par.rms_norm %x, %scale {eps = 1.0e-5} : (tensor<4x10x16xf32>, tensor<16xf32>) -> (tensor<4x10x16xf32>, tensor<4x10xf32>)
  %h = par.einsum "bse,me->bsm"(%n, %up) : (tensor<4x10x16xf32>, tensor<64x16xf32>) -> tensor<4x10x64xf32>
  %rows = par.expand %up_bias dims [0, 1] : tensor<64xf32> -> tensor<4x10x64xf32>
  %sum = arith.addf %h, %rows : tensor<4x10x64xf32>
  %a = math.tanh %sum : tensor<4x10x64xf32>
  %d = par.einsum "bsm,em->bse"(%a, %down) : (tensor<4x10x64xf32>, tensor<16x64xf32>) -> tensor<4x10x16xf32>
  %columns = par.expand %down_bias dims [0, 1] : tensor<16xf32> -> tensor<4x10x16xf32>
  %y = arith.addf %d, %columns : tensor<4x10x16xf32>
  %r = arith.addf %x, %y : tensor<4x10x16xf32>
  %logits = par.einsum "bse,ve->bsv"(%r, %table) : (tensor<4x10x16xf32>, tensor<48x16xf32>) -> tensor<4x10x48xf32>
  %losses, %lse = par.cross_entropy %logits, %targets {classes = 48 : i64} : (tensor<4x10x48xf32>, tensor<4x10xi32>) -> (tensor<4x10xf32>, tensor<4x10xf32>)
  %loss = par.reduce sum %losses dims [0, 1] : tensor<4x10xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
