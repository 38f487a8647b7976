// Every value of type bf16 is a bf16 number, in memory or not: 256 + 1 is 256, while 256 + (1 + 1) is 258. Weights begin as ones,
// so all of it is exact and the loss is the same number to the last bit wherever it is rounded right.
module attributes {par.model = {vocab = 4 : i64}} {
  par.variable @w : tensor<4x8xbf16> dims ["a", "b"] {role = #par.role<parameter>, init = #par.init<ones>, file = #par.file<"w">}
  func.func @forward(%tokens: tensor<2x4xi32> {par.place = #par.place<input tokens>}, %w: tensor<4x8xbf16> {par.place = #par.place<variable @w>})
      -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
    %big = arith.constant dense<256.0> : tensor<4x8xbf16>
    // One kernel of elementwise ops: each of its values is rounded.
    %s = arith.addf %w, %big : tensor<4x8xbf16>
    %d = arith.subf %s, %big : tensor<4x8xbf16>
    // A tie that goes to the even neighbour above: 259 between 258 and 260.
    %three = arith.constant dense<3.0> : tensor<4x8xbf16>
    %t0 = arith.mulf %w, %three : tensor<4x8xbf16>
    %t1 = arith.addf %t0, %big : tensor<4x8xbf16>
    %t2 = arith.subf %t1, %big : tensor<4x8xbf16>
    // Twice, lest what is not rounded here make up for what is not rounded above.
    %t = arith.addf %t2, %t2 : tensor<4x8xbf16>
    // Sums are rounded at their end: 8 ones and 256, not 256 eight times.
    %r0 = par.reduce sum %w dims [1] : tensor<4x8xbf16> -> tensor<4xbf16>
    %bigs = arith.constant dense<256.0> : tensor<4xbf16>
    %r1 = arith.addf %r0, %bigs : tensor<4xbf16>
    %r = arith.subf %r1, %bigs : tensor<4xbf16>
    // Over a leading dimension, in memory: 4 × 65.
    %c65 = arith.constant dense<65.0> : tensor<4x8xbf16>
    %l0 = arith.mulf %w, %c65 : tensor<4x8xbf16>
    %l1 = par.reduce sum %l0 dims [0] : tensor<4x8xbf16> -> tensor<8xbf16>
    %l = arith.addf %l1, %l1 : tensor<8xbf16>
    // A product and what is added to it: 8 · 33 = 264, to which 1 is added and rounded away.
    %c33 = arith.constant dense<33.0> : tensor<4x8xbf16>
    %p0 = arith.mulf %w, %c33 : tensor<4x8xbf16>
    %p1 = par.einsum "ab,cb->ac"(%p0, %w) : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x4xbf16>
    %q = par.slice %w from [0, 0] : tensor<4x8xbf16> -> tensor<4x4xbf16>
    %p = arith.addf %p1, %q : tensor<4x4xbf16>
    // Not rounded where the result is wider.
    %f = par.einsum "ab,cb->ac"(%s, %w) : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x4xf32>
    %0 = par.reduce sum %d dims [0, 1] : tensor<4x8xbf16> -> tensor<f32>
    %1 = par.reduce sum %t dims [0, 1] : tensor<4x8xbf16> -> tensor<f32>
    %2 = par.reduce sum %r dims [0] : tensor<4xbf16> -> tensor<f32>
    %3 = par.reduce sum %l dims [0] : tensor<8xbf16> -> tensor<f32>
    %4 = par.reduce sum %p dims [0, 1] : tensor<4x4xbf16> -> tensor<f32>
    %5 = par.reduce sum %f dims [0, 1] : tensor<4x4xf32> -> tensor<f32>
    // Powers of two apart, so that no part hides another: 0, 256, 32, 4160, 4224 and 32768, over 8 targets.
    %6 = arith.addf %0, %1 : tensor<f32>
    %7 = arith.addf %6, %2 : tensor<f32>
    %8 = arith.addf %7, %3 : tensor<f32>
    %9 = arith.addf %8, %4 : tensor<f32>
    %loss = arith.addf %9, %5 : tensor<f32>
    return %loss : tensor<f32>
  }
}
