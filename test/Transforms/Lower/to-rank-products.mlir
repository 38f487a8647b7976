// RUN: par-opt %s -pass-pipeline='builtin.module(func.func(par-form-kernels,par-join-products),par-to-rank)' | FileCheck %s

par.variable @t : tensor<2x4xf32> dims ["d0", "d1"] {role = #par.role<step>}
par.variable @w : tensor<6x4xf32> dims ["a", "b"] {role = #par.role<parameter>, init = #par.init<zeros>}
par.variable @v : tensor<4x4xf32> dims ["a", "b"] {role = #par.role<parameter>, init = #par.init<zeros>}
// Joined products accumulate each in its own argument; a sum of two lies in the result from the first one on.
// CHECK-LABEL: rank.func @layer(
// CHECK-SAME: %[[X:[a-z0-9]+]]: !rank.buffer<32>, %[[DY:[a-z0-9]+]]: !rank.buffer<48>, %[[DZ:[a-z0-9]+]]: !rank.buffer<32>,
// CHECK-SAME: %[[W:[a-z0-9]+]]: !rank.buffer<96>, %[[V:[a-z0-9]+]]: !rank.buffer<64>, %[[G:[a-z0-9]+]]: !rank.buffer<96>, %[[H:[a-z0-9]+]]: !rank.buffer<64>,
// CHECK-SAME: %[[NEWG:[a-z0-9]+]]: !rank.buffer<96>, %[[NEWH:[a-z0-9]+]]: !rank.buffer<64>, %[[DX:[a-z0-9]+]]: !rank.buffer<32>)
// CHECK-NOT: rank.alloc
// CHECK: rank.gemm ins(%[[DY]], %[[W]], %[[DZ]], %[[V]] : {{.*}}) outs(%[[DX]] :
// CHECK-SAME: products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 4, k = 6, lda = 6, ldb = 4, ldc = 4>,
// CHECK-SAME: #rank.product<a = 2, b = 3, c = 0, {{[^>]*}}, beta = 1>]
// CHECK-NOT: rank.copy
// CHECK: rank.gemm ins({{.*}}%[[G]]{{.*}}%[[H]]{{.*}}) outs(%[[NEWG]], %[[NEWH]] :
// CHECK-SAME: products = [#rank.product<a = 0, b = 1, c = 0, {{[^>]*}}, transpose_a = true, {{[^>]*}}, beta = 1, addend = 2>,
// CHECK-SAME: #rank.product<a = 3, b = 1, c = 1, {{[^>]*}}, beta = 1, addend = 4>]
// CHECK-NOT: rank.copy
// CHECK: rank.return
func.func private @layer(%x: tensor<2x4xf32>, %dy: tensor<2x6xf32>, %dz: tensor<2x4xf32>, %w: tensor<6x4xf32>, %v: tensor<4x4xf32>, %g: tensor<6x4xf32>, %h: tensor<4x4xf32>)
    -> (tensor<6x4xf32> {par.place = #par.place<alias 5>}, tensor<4x4xf32> {par.place = #par.place<alias 6>}, tensor<2x4xf32>) {
  %0 = par.einsum "ij,jk->ik"(%dy, %w) : (tensor<2x6xf32>, tensor<6x4xf32>) -> tensor<2x4xf32>
  %1 = par.einsum "ij,ik->jk"(%dy, %x) : (tensor<2x6xf32>, tensor<2x4xf32>) -> tensor<6x4xf32>
  %2 = arith.addf %g, %1 : tensor<6x4xf32>
  %3 = par.einsum "ij,jk->ik"(%dz, %v) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %4 = par.einsum "ij,ik->jk"(%dz, %x) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %5 = arith.addf %h, %4 : tensor<4x4xf32>
  %6 = arith.addf %0, %3 : tensor<2x4xf32>
  return %2, %5, %6 : tensor<6x4xf32>, tensor<4x4xf32>, tensor<2x4xf32>
}
func.func @forward(%t: tensor<2x4xf32> {par.place = #par.place<variable @t>}, %w: tensor<6x4xf32> {par.place = #par.place<variable @w>}, %v: tensor<4x4xf32> {par.place = #par.place<variable @v>}) -> (tensor<2x4xf32> {par.place = #par.place<residual 0>})
    attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %y = par.einsum "ik,jk->ij"(%t, %w) : (tensor<2x4xf32>, tensor<6x4xf32>) -> tensor<2x6xf32>
  %z = par.einsum "ik,jk->ij"(%t, %v) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %a, %b, %c = par.call @layer(%t, %y, %z, %w, %v, %w, %v) : (tensor<2x4xf32>, tensor<2x6xf32>, tensor<2x4xf32>, tensor<6x4xf32>, tensor<4x4xf32>, tensor<6x4xf32>, tensor<4x4xf32>) -> (tensor<6x4xf32>, tensor<4x4xf32>, tensor<2x4xf32>)
  return %c : tensor<2x4xf32>
}
func.func @backward(%r: tensor<2x4xf32> {par.place = #par.place<residual 0>}) attributes {par.phase = #par.phase<backward, chunk = 0>} { return }
func.func @reduce() attributes {par.phase = #par.phase<reduce, chunk = 0>} { return }
func.func @update() attributes {par.phase = #par.phase<update, chunk = 0>} { return }
