// RUN: par-opt %s -pass-pipeline='builtin.module(func.func(par-form-kernels),par-to-rank)' | FileCheck %s

// What a library call needs beside its tensors follows from its structure: products of bf16 add up in f32 where the
// result is bf16 (4·m·n·batch bytes), attention in bf16 widens rows of the batch, here all 3, backward with gradients.
par.variable @x : tensor<8x4xbf16> dims ["a", "b"] {role = #par.role<parameter>, init = #par.init<zeros>}
par.variable @w : tensor<4x6xbf16> dims ["a", "b"] {role = #par.role<parameter>, init = #par.init<zeros>}
par.variable @q : tensor<3x5x2x1x4xbf16> dims ["a", "b", "c", "d", "e"] {role = #par.role<parameter>, init = #par.init<zeros>}
par.variable @k : tensor<3x5x2x4xbf16> dims ["a", "b", "c", "d"] {role = #par.role<parameter>, init = #par.init<zeros>}

// CHECK-LABEL: rank.func @products
// CHECK: %[[SUMS:.*]] = rank.alloc{{ +}}workspace : <192>
// CHECK-NEXT: rank.gemm ins(%arg0, %arg1 : {{.*}}) outs({{.*}}) scratch(%[[SUMS]] : !rank.buffer<192>)
// CHECK-SAME: from = bf16, to = bf16
// CHECK: rank.gemm
// CHECK-NOT: scratch
// CHECK-SAME: from = bf16, to = f32
// CHECK: rank.return
func.func @products(%x: tensor<8x4xbf16> {par.place = #par.place<variable @x>}, %w: tensor<4x6xbf16> {par.place = #par.place<variable @w>})
    -> (tensor<8x6xbf16> {par.place = #par.place<residual 0>}, tensor<8x6xf32> {par.place = #par.place<residual 1>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %0 = par.einsum "ik,kj->ij"(%x, %w) : (tensor<8x4xbf16>, tensor<4x6xbf16>) -> tensor<8x6xbf16>
  %1 = par.einsum "ik,kj->ij"(%x, %w) : (tensor<8x4xbf16>, tensor<4x6xbf16>) -> tensor<8x6xf32>
  return %0, %1 : tensor<8x6xbf16>, tensor<8x6xf32>
}

// CHECK-LABEL: rank.func @attention
// CHECK: %[[FORWARD:.*]] = rank.alloc{{ +}}workspace : <1920>
// CHECK-NEXT: rank.attention {{.*}} scratch(%[[FORWARD]] : !rank.buffer<1920>)
// CHECK: %[[BACKWARD:.*]] = rank.alloc{{ +}}workspace : <3840>
// CHECK-NEXT: rank.attention {{.*}} scratch(%[[BACKWARD]] : !rank.buffer<3840>)
func.func @attention(%q: tensor<3x5x2x1x4xbf16> {par.place = #par.place<variable @q>}, %k: tensor<3x5x2x4xbf16> {par.place = #par.place<variable @k>})
    -> (tensor<3x5x2x1x4xbf16> {par.place = #par.place<residual 3>}, tensor<3x5x2x4xbf16> {par.place = #par.place<residual 4>}, tensor<3x5x2x4xbf16> {par.place = #par.place<residual 5>})
    attributes {par.phase = #par.phase<backward, chunk = 0>} {
  %p = par.iota dim 0 : tensor<5xi32>
  %out, %lse = par.attention %q, %k, %k positions %p, %p {scale = 0.5, causal}
      : (tensor<3x5x2x1x4xbf16>, tensor<3x5x2x4xbf16>, tensor<3x5x2x4xbf16>, tensor<5xi32>, tensor<5xi32>) -> (tensor<3x5x2x1x4xbf16>, tensor<3x2x1x5xf32>)
  %dq, %dk, %dv = par.attention_backward %q, %q, %k, %k, %out, %lse positions %p, %p {scale = 0.5, causal}
      : (tensor<3x5x2x1x4xbf16>, tensor<3x5x2x1x4xbf16>, tensor<3x5x2x4xbf16>, tensor<3x5x2x4xbf16>, tensor<3x5x2x1x4xbf16>, tensor<3x2x1x5xf32>, tensor<5xi32>, tensor<5xi32>)
      -> (tensor<3x5x2x1x4xbf16>, tensor<3x5x2x4xbf16>, tensor<3x5x2x4xbf16>)
  return %dq, %dk, %dv : tensor<3x5x2x1x4xbf16>, tensor<3x5x2x4xbf16>, tensor<3x5x2x4xbf16>
}

func.func @reduce() attributes {par.phase = #par.phase<reduce, chunk = 0>} {
  return
}
func.func @update() attributes {par.phase = #par.phase<update, chunk = 0>} {
  return
}
