// RUN: par-opt %s -split-input-file -verify-diagnostics -o /dev/null

// rank_gemm_c1: sums of other things would be left out.
rank.func @f(%a0: !rank.buffer<24>, %a1: !rank.buffer<48>, %a2: !rank.buffer<32>, %r0: !rank.buffer<32>) attributes {results = 1 : i64} {
  // expected-error @+1 {{rank_gemm_c1: the region holds what no call of the runtime computes}}
  rank.gemm ins(%a0, %a1, %a2 : !rank.buffer<24>, !rank.buffer<48>, !rank.buffer<32>) outs(%r0 : !rank.buffer<32>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 4, k = 3, transpose_b = true, lda = 3, ldb = 3, ldc = 4>]} {
  ^bb0(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>, %c: tensor<2x4xf32>):
    %0 = par.einsum "ik,jk->ij"(%x, %w) : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
    %1 = arith.addf %c, %c : tensor<2x4xf32>
    %2 = arith.addf %1, %0 : tensor<2x4xf32>
    rank.yield %2 : tensor<2x4xf32>
  }
  rank.return
}

// -----

// rank_gemm_c1: no matrix product.
rank.func @f(%a0: !rank.buffer<24>, %a1: !rank.buffer<24>, %r0: !rank.buffer<24>) attributes {results = 1 : i64} {
  // expected-error @+1 {{rank_gemm_c1: the region holds what no call of the runtime computes}}
  rank.gemm ins(%a0, %a1 : !rank.buffer<24>, !rank.buffer<24>) outs(%r0 : !rank.buffer<24>) attributes {products = []} {
  ^bb0(%x: tensor<2x3xf32>, %w: tensor<3x2xf32>):
    %0 = par.einsum "ij,ji->ij"(%x, %w) : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x3xf32>
    rank.yield %0 : tensor<2x3xf32>
  }
  rank.return
}

// -----

// rank_gemm_c1: the first product is written over the sum of others.
rank.func @f(%a0: !rank.buffer<24>, %a1: !rank.buffer<48>, %a2: !rank.buffer<32>, %r0: !rank.buffer<32>) attributes {results = 1 : i64} {
  // expected-error @+1 {{rank_gemm_c1: the region holds what no call of the runtime computes}}
  rank.gemm ins(%a0, %a1, %a2 : !rank.buffer<24>, !rank.buffer<48>, !rank.buffer<32>) outs(%r0 : !rank.buffer<32>) attributes {products = []} {
  ^bb0(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>, %c: tensor<2x4xf32>):
    %0 = par.einsum "ik,jk->ij"(%x, %w) : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
    %1 = par.einsum "ik,jk->ij"(%x, %w) : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
    %2 = arith.addf %1, %c : tensor<2x4xf32>
    %3 = arith.addf %2, %0 : tensor<2x4xf32>
    rank.yield %3 : tensor<2x4xf32>
  }
  rank.return
}

// -----

// rank_gemm_c1: batches are joined with nothing.
rank.func @f(%a0: !rank.buffer<120>, %a1: !rank.buffer<240>, %r0: !rank.buffer<160>, %r1: !rank.buffer<160>) attributes {results = 2 : i64} {
  // expected-error @+1 {{rank_gemm_c1: the region holds what no call of the runtime computes}}
  rank.gemm ins(%a0, %a1 : !rank.buffer<120>, !rank.buffer<240>) outs(%r0, %r1 : !rank.buffer<160>, !rank.buffer<160>) attributes {products = []} {
  ^bb0(%x: tensor<5x2x3xf32>, %w: tensor<5x3x4xf32>):
    %0 = par.einsum "bik,bkj->bij"(%x, %w) : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
    %1 = par.einsum "bik,bkj->bij"(%x, %w) : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
    rank.yield %0, %1 : tensor<5x2x4xf32>, tensor<5x2x4xf32>
  }
  rank.return
}

// -----

// rank_gemm_c2: an entry per product.
rank.func @f(%a0: !rank.buffer<24>, %a1: !rank.buffer<48>, %r0: !rank.buffer<32>) attributes {results = 1 : i64} {
  // expected-error @+1 {{rank_gemm_c2: `products` has 2 entries, expected one for each of the 1 products of the region}}
  rank.gemm ins(%a0, %a1 : !rank.buffer<24>, !rank.buffer<48>) outs(%r0 : !rank.buffer<32>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 4, k = 3, transpose_b = true, lda = 3, ldb = 3, ldc = 4>, #rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 4, k = 3, transpose_b = true, lda = 3, ldb = 3, ldc = 4>]} {
  ^bb0(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>):
    %0 = par.einsum "ik,jk->ij"(%x, %w) : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
    rank.yield %0 : tensor<2x4xf32>
  }
  rank.return
}

// -----

// rank_gemm_c3: operands.
rank.func @f(%a0: !rank.buffer<24>, %a1: !rank.buffer<48>, %r0: !rank.buffer<32>) attributes {results = 1 : i64} {
  // expected-error @+1 {{rank_gemm_c3: `products` says #rank.product<a = 1, b = 0, c = 0, from = f32, to = f32, m = 2, n = 4, k = 3, transpose_b = true, lda = 3, ldb = 3, ldc = 4>, but the region computes #rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 4, k = 3, transpose_b = true, lda = 3, ldb = 3, ldc = 4>}}
  rank.gemm ins(%a0, %a1 : !rank.buffer<24>, !rank.buffer<48>) outs(%r0 : !rank.buffer<32>) attributes {products = [#rank.product<a = 1, b = 0, c = 0, from = f32, to = f32, m = 2, n = 4, k = 3, transpose_b = true, lda = 3, ldb = 3, ldc = 4>]} {
  ^bb0(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>):
    %0 = par.einsum "ik,jk->ij"(%x, %w) : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
    rank.yield %0 : tensor<2x4xf32>
  }
  rank.return
}

// -----

// rank_gemm_c3: sizes.
rank.func @f(%a0: !rank.buffer<24>, %a1: !rank.buffer<48>, %r0: !rank.buffer<32>) attributes {results = 1 : i64} {
  // expected-error @+1 {{rank_gemm_c3: `products` says #rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 4, k = 2, transpose_b = true, lda = 3, ldb = 3, ldc = 4>, but the region computes #rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 4, k = 3, transpose_b = true, lda = 3, ldb = 3, ldc = 4>}}
  rank.gemm ins(%a0, %a1 : !rank.buffer<24>, !rank.buffer<48>) outs(%r0 : !rank.buffer<32>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 4, k = 2, transpose_b = true, lda = 3, ldb = 3, ldc = 4>]} {
  ^bb0(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>):
    %0 = par.einsum "ik,jk->ij"(%x, %w) : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
    rank.yield %0 : tensor<2x4xf32>
  }
  rank.return
}

// -----

// rank_gemm_c3: a transpose.
rank.func @f(%a0: !rank.buffer<24>, %a1: !rank.buffer<48>, %r0: !rank.buffer<32>) attributes {results = 1 : i64} {
  // expected-error @+1 {{rank_gemm_c3: `products` says #rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 4, k = 3, lda = 3, ldb = 3, ldc = 4>, but the region computes #rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 4, k = 3, transpose_b = true, lda = 3, ldb = 3, ldc = 4>}}
  rank.gemm ins(%a0, %a1 : !rank.buffer<24>, !rank.buffer<48>) outs(%r0 : !rank.buffer<32>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 4, k = 3, lda = 3, ldb = 3, ldc = 4>]} {
  ^bb0(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>):
    %0 = par.einsum "ik,jk->ij"(%x, %w) : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
    rank.yield %0 : tensor<2x4xf32>
  }
  rank.return
}

// -----

// rank_gemm_c3: a leading dimension.
rank.func @f(%a0: !rank.buffer<24>, %a1: !rank.buffer<48>, %r0: !rank.buffer<32>) attributes {results = 1 : i64} {
  // expected-error @+1 {{rank_gemm_c3: `products` says #rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 4, k = 3, transpose_b = true, lda = 3, ldb = 4, ldc = 4>, but the region computes #rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 4, k = 3, transpose_b = true, lda = 3, ldb = 3, ldc = 4>}}
  rank.gemm ins(%a0, %a1 : !rank.buffer<24>, !rank.buffer<48>) outs(%r0 : !rank.buffer<32>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 4, k = 3, transpose_b = true, lda = 3, ldb = 4, ldc = 4>]} {
  ^bb0(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>):
    %0 = par.einsum "ik,jk->ij"(%x, %w) : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
    rank.yield %0 : tensor<2x4xf32>
  }
  rank.return
}

// -----

// rank_gemm_c3: a type.
rank.func @f(%a0: !rank.buffer<24>, %a1: !rank.buffer<48>, %r0: !rank.buffer<32>) attributes {results = 1 : i64} {
  // expected-error @+1 {{rank_gemm_c3: `products` says #rank.product<a = 0, b = 1, c = 0, from = f32, to = bf16, m = 2, n = 4, k = 3, transpose_b = true, lda = 3, ldb = 3, ldc = 4>, but the region computes #rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 4, k = 3, transpose_b = true, lda = 3, ldb = 3, ldc = 4>}}
  rank.gemm ins(%a0, %a1 : !rank.buffer<24>, !rank.buffer<48>) outs(%r0 : !rank.buffer<32>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = bf16, m = 2, n = 4, k = 3, transpose_b = true, lda = 3, ldb = 3, ldc = 4>]} {
  ^bb0(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>):
    %0 = par.einsum "ik,jk->ij"(%x, %w) : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
    rank.yield %0 : tensor<2x4xf32>
  }
  rank.return
}

// -----

// rank_gemm_c3: what is added.
rank.func @f(%a0: !rank.buffer<24>, %a1: !rank.buffer<48>, %a2: !rank.buffer<32>, %a3: !rank.buffer<4>, %r0: !rank.buffer<32>) attributes {results = 1 : i64} {
  // expected-error @+1 {{rank_gemm_c3: `products` says #rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 4, k = 3, transpose_b = true, lda = 3, ldb = 3, ldc = 4>, but the region computes #rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 4, k = 3, transpose_b = true, lda = 3, ldb = 3, ldc = 4, beta = 1, addend = 2, scale = 3>}}
  rank.gemm ins(%a0, %a1, %a2, %a3 : !rank.buffer<24>, !rank.buffer<48>, !rank.buffer<32>, !rank.buffer<4>) outs(%r0 : !rank.buffer<32>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 4, k = 3, transpose_b = true, lda = 3, ldb = 3, ldc = 4>]} {
  ^bb0(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>, %c: tensor<2x4xf32>, %s: tensor<f32>):
    %0 = par.einsum "ik,jk->ij"(%x, %w) : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
    %1 = par.expand %s dims [0, 1] : tensor<f32> -> tensor<2x4xf32>
    %2 = arith.mulf %c, %1 : tensor<2x4xf32>
    %3 = arith.addf %0, %2 : tensor<2x4xf32>
    rank.yield %3 : tensor<2x4xf32>
  }
  rank.return
}

// -----

// rank_gemm_c3: the addend.
rank.func @f(%a0: !rank.buffer<24>, %a1: !rank.buffer<48>, %a2: !rank.buffer<32>, %a3: !rank.buffer<4>, %r0: !rank.buffer<32>) attributes {results = 1 : i64} {
  // expected-error @+1 {{rank_gemm_c3: `products` says #rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 4, k = 3, transpose_b = true, lda = 3, ldb = 3, ldc = 4, beta = 1, addend = 0, scale = 3>, but the region computes #rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 4, k = 3, transpose_b = true, lda = 3, ldb = 3, ldc = 4, beta = 1, addend = 2, scale = 3>}}
  rank.gemm ins(%a0, %a1, %a2, %a3 : !rank.buffer<24>, !rank.buffer<48>, !rank.buffer<32>, !rank.buffer<4>) outs(%r0 : !rank.buffer<32>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 4, k = 3, transpose_b = true, lda = 3, ldb = 3, ldc = 4, beta = 1, addend = 0, scale = 3>]} {
  ^bb0(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>, %c: tensor<2x4xf32>, %s: tensor<f32>):
    %0 = par.einsum "ik,jk->ij"(%x, %w) : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
    %1 = par.expand %s dims [0, 1] : tensor<f32> -> tensor<2x4xf32>
    %2 = arith.mulf %c, %1 : tensor<2x4xf32>
    %3 = arith.addf %0, %2 : tensor<2x4xf32>
    rank.yield %3 : tensor<2x4xf32>
  }
  rank.return
}

// -----

// rank_gemm_c3: the scale.
rank.func @f(%a0: !rank.buffer<24>, %a1: !rank.buffer<48>, %a2: !rank.buffer<32>, %a3: !rank.buffer<4>, %r0: !rank.buffer<32>) attributes {results = 1 : i64} {
  // expected-error @+1 {{rank_gemm_c3: `products` says #rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 4, k = 3, transpose_b = true, lda = 3, ldb = 3, ldc = 4, beta = 1, addend = 2>, but the region computes #rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 4, k = 3, transpose_b = true, lda = 3, ldb = 3, ldc = 4, beta = 1, addend = 2, scale = 3>}}
  rank.gemm ins(%a0, %a1, %a2, %a3 : !rank.buffer<24>, !rank.buffer<48>, !rank.buffer<32>, !rank.buffer<4>) outs(%r0 : !rank.buffer<32>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 4, k = 3, transpose_b = true, lda = 3, ldb = 3, ldc = 4, beta = 1, addend = 2>]} {
  ^bb0(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>, %c: tensor<2x4xf32>, %s: tensor<f32>):
    %0 = par.einsum "ik,jk->ij"(%x, %w) : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
    %1 = par.expand %s dims [0, 1] : tensor<f32> -> tensor<2x4xf32>
    %2 = arith.mulf %c, %1 : tensor<2x4xf32>
    %3 = arith.addf %0, %2 : tensor<2x4xf32>
    rank.yield %3 : tensor<2x4xf32>
  }
  rank.return
}

// -----

// rank_attention_c1: rows that are computed first.
rank.func @f(%q: !rank.buffer<48>, %k: !rank.buffer<48>, %p: !rank.buffer<12>, %o: !rank.buffer<48>, %l: !rank.buffer<12>) attributes {results = 2 : i64} {
  // expected-error @+1 {{rank_attention_c1: the region must hold an attention in one type, f32 or bf16, whose rows lie in inputs and outputs}}
  rank.attention ins(%q, %k, %p : !rank.buffer<48>, !rank.buffer<48>, !rank.buffer<12>) outs(%o, %l : !rank.buffer<48>, !rank.buffer<12>) attributes {structure = #rank.attention<type = f32, batch = 1, q_rows = 3, k_rows = 3, kv_heads = 1, group = 1, head_dim = 4, value_dim = 4, q = <buffer = 0, stride = 4>, k = <buffer = 1, stride = 4>, v = <buffer = 1, stride = 4>>} {
  ^bb0(%a: tensor<1x3x1x1x4xf32>, %b: tensor<1x3x1x4xf32>, %d: tensor<3xi32>):
    %t = math.tanh %a : tensor<1x3x1x1x4xf32>
    %out, %lse = par.attention %t, %b, %b positions %d, %d {scale = 0.5}
        : (tensor<1x3x1x1x4xf32>, tensor<1x3x1x4xf32>, tensor<1x3x1x4xf32>, tensor<3xi32>, tensor<3xi32>) -> (tensor<1x3x1x1x4xf32>, tensor<1x1x1x3xf32>)
    rank.yield %out, %lse : tensor<1x3x1x1x4xf32>, tensor<1x1x1x3xf32>
  }
  rank.return
}

// -----

// rank_attention_c1: types that the runtime does not mix.
rank.func @f(%q: !rank.buffer<48>, %k: !rank.buffer<24>, %p: !rank.buffer<12>, %o: !rank.buffer<48>, %l: !rank.buffer<12>) attributes {results = 2 : i64} {
  // expected-error @+1 {{rank_attention_c1: the region must hold an attention in one type, f32 or bf16, whose rows lie in inputs and outputs}}
  rank.attention ins(%q, %k, %p : !rank.buffer<48>, !rank.buffer<24>, !rank.buffer<12>) outs(%o, %l : !rank.buffer<48>, !rank.buffer<12>) attributes {structure = #rank.attention<type = f32, batch = 1, q_rows = 3, k_rows = 3, kv_heads = 1, group = 1, head_dim = 4, value_dim = 4, q = <buffer = 0, stride = 4>, k = <buffer = 1, stride = 4>, v = <buffer = 1, stride = 4>>} {
  ^bb0(%a: tensor<1x3x1x1x4xf32>, %b: tensor<1x3x1x4xbf16>, %d: tensor<3xi32>):
    %out, %lse = par.attention %a, %b, %b positions %d, %d {scale = 0.5}
        : (tensor<1x3x1x1x4xf32>, tensor<1x3x1x4xbf16>, tensor<1x3x1x4xbf16>, tensor<3xi32>, tensor<3xi32>) -> (tensor<1x3x1x1x4xf32>, tensor<1x1x1x3xf32>)
    rank.yield %out, %lse : tensor<1x3x1x1x4xf32>, tensor<1x1x1x3xf32>
  }
  rank.return
}

// -----

// rank_attention_c2: sizes.
rank.func @f(%q: !rank.buffer<48>, %k: !rank.buffer<48>, %p: !rank.buffer<12>, %o: !rank.buffer<48>, %l: !rank.buffer<12>) attributes {results = 2 : i64} {
  // expected-error @+1 {{rank_attention_c2: `structure` says #rank.attention<type = f32, batch = 1, q_rows = 3, k_rows = 2, kv_heads = 1, group = 1, head_dim = 4, value_dim = 4, q = <buffer = 0, stride = 4>, k = <buffer = 1, stride = 4>, v = <buffer = 1, stride = 4>>, but the region computes #rank.attention<type = f32, batch = 1, q_rows = 3, k_rows = 3, kv_heads = 1, group = 1, head_dim = 4, value_dim = 4, q = <buffer = 0, stride = 4>, k = <buffer = 1, stride = 4>, v = <buffer = 1, stride = 4>>}}
  rank.attention ins(%q, %k, %p : !rank.buffer<48>, !rank.buffer<48>, !rank.buffer<12>) outs(%o, %l : !rank.buffer<48>, !rank.buffer<12>) attributes {structure = #rank.attention<type = f32, batch = 1, q_rows = 3, k_rows = 2, kv_heads = 1, group = 1, head_dim = 4, value_dim = 4, q = <buffer = 0, stride = 4>, k = <buffer = 1, stride = 4>, v = <buffer = 1, stride = 4>>} {
  ^bb0(%a: tensor<1x3x1x1x4xf32>, %b: tensor<1x3x1x4xf32>, %d: tensor<3xi32>):
    %out, %lse = par.attention %a, %b, %b positions %d, %d {scale = 0.5}
        : (tensor<1x3x1x1x4xf32>, tensor<1x3x1x4xf32>, tensor<1x3x1x4xf32>, tensor<3xi32>, tensor<3xi32>) -> (tensor<1x3x1x1x4xf32>, tensor<1x1x1x3xf32>)
    rank.yield %out, %lse : tensor<1x3x1x1x4xf32>, tensor<1x1x1x3xf32>
  }
  rank.return
}

// -----

// rank_attention_c2: where rows lie.
rank.func @f(%q: !rank.buffer<48>, %k: !rank.buffer<48>, %p: !rank.buffer<12>, %o: !rank.buffer<48>, %l: !rank.buffer<12>) attributes {results = 2 : i64} {
  // expected-error @+1 {{rank_attention_c2: `structure` says #rank.attention<type = f32, batch = 1, q_rows = 3, k_rows = 3, kv_heads = 1, group = 1, head_dim = 4, value_dim = 4, q = <buffer = 0, stride = 4>, k = <buffer = 1, stride = 4>, v = <buffer = 0, stride = 4>>, but the region computes #rank.attention<type = f32, batch = 1, q_rows = 3, k_rows = 3, kv_heads = 1, group = 1, head_dim = 4, value_dim = 4, q = <buffer = 0, stride = 4>, k = <buffer = 1, stride = 4>, v = <buffer = 1, stride = 4>>}}
  rank.attention ins(%q, %k, %p : !rank.buffer<48>, !rank.buffer<48>, !rank.buffer<12>) outs(%o, %l : !rank.buffer<48>, !rank.buffer<12>) attributes {structure = #rank.attention<type = f32, batch = 1, q_rows = 3, k_rows = 3, kv_heads = 1, group = 1, head_dim = 4, value_dim = 4, q = <buffer = 0, stride = 4>, k = <buffer = 1, stride = 4>, v = <buffer = 0, stride = 4>>} {
  ^bb0(%a: tensor<1x3x1x1x4xf32>, %b: tensor<1x3x1x4xf32>, %d: tensor<3xi32>):
    %out, %lse = par.attention %a, %b, %b positions %d, %d {scale = 0.5}
        : (tensor<1x3x1x1x4xf32>, tensor<1x3x1x4xf32>, tensor<1x3x1x4xf32>, tensor<3xi32>, tensor<3xi32>) -> (tensor<1x3x1x1x4xf32>, tensor<1x1x1x3xf32>)
    rank.yield %out, %lse : tensor<1x3x1x1x4xf32>, tensor<1x1x1x3xf32>
  }
  rank.return
}

// -----

// rank_library_c1: attention has an op for itself.
rank.func @f(%q: !rank.buffer<48>, %k: !rank.buffer<48>, %p: !rank.buffer<12>, %o: !rank.buffer<48>, %l: !rank.buffer<12>) attributes {results = 2 : i64} {
  // expected-error @+1 {{rank_library_c1: the region must hold one op of a library without an op for itself, whose operands are inputs and whose results are outputs, or rows of them where it takes rows}}
  rank.library ins(%q, %k, %p : !rank.buffer<48>, !rank.buffer<48>, !rank.buffer<12>) outs(%o, %l : !rank.buffer<48>, !rank.buffer<12>) attributes {structure = #rank.library<operands = [#rank.rows<buffer = 0, stride = 4>], results = []>} {
  ^bb0(%a: tensor<1x3x1x1x4xf32>, %b: tensor<1x3x1x4xf32>, %d: tensor<3xi32>):
    %out, %lse = par.attention %a, %b, %b positions %d, %d {scale = 0.5}
        : (tensor<1x3x1x1x4xf32>, tensor<1x3x1x4xf32>, tensor<1x3x1x4xf32>, tensor<3xi32>, tensor<3xi32>) -> (tensor<1x3x1x1x4xf32>, tensor<1x1x1x3xf32>)
    rank.yield %out, %lse : tensor<1x3x1x1x4xf32>, tensor<1x1x1x3xf32>
  }
  rank.return
}

// -----

// rank_library_c1: a kernel is no op of a library.
rank.func @f(%x: !rank.buffer<16>, %y: !rank.buffer<16>) attributes {results = 1 : i64} {
  // expected-error @+1 {{rank_library_c1: the region must hold one op of a library}}
  rank.library ins(%x : !rank.buffer<16>) outs(%y : !rank.buffer<16>) attributes {structure = #rank.library<operands = [], results = []>} {
  ^bb0(%a: tensor<4xf32>):
    %0 = math.tanh %a : tensor<4xf32>
    rank.yield %0 : tensor<4xf32>
  }
  rank.return
}
