// RUN: par-opt %s -split-input-file -verify-diagnostics

// As it should be: nothing is said.
rank.func @f(%x: !rank.buffer<32>, %w: !rank.buffer<128>, %b: !rank.buffer<32>, %y0: !rank.buffer<64>) attributes {results = 1 : i64} {
  rank.gemm ins(%x, %w, %b : !rank.buffer<32>, !rank.buffer<128>, !rank.buffer<32>) outs(%y0 : !rank.buffer<64>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 8, k = 4, lda = 4, ldb = 8, ldc = 8, epilogue = bias, vector = 2>]} {
  ^bb0(%tx: tensor<2x4xf32>, %tw: tensor<4x8xf32>, %tb: tensor<8xf32>):
    %0 = par.einsum "ik,kj->ij"(%tx, %tw) : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %1 = par.expand %tb dims [0] : tensor<8xf32> -> tensor<2x8xf32>
    %2 = arith.addf %0, %1 : tensor<2x8xf32>
    rank.yield %2 : tensor<2x8xf32>
  }
  rank.return
}

// -----

// Another epilogue than the region's.
rank.func @f(%x: !rank.buffer<32>, %w: !rank.buffer<128>, %b: !rank.buffer<32>, %y0: !rank.buffer<64>) attributes {results = 1 : i64} {
  // expected-error @+1 {{rank_gemm_c3: `products` says #rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 8, k = 4, lda = 4, ldb = 8, ldc = 8, epilogue = bias_gelu, vector = 2>, but the region computes #rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 8, k = 4, lda = 4, ldb = 8, ldc = 8, epilogue = bias, vector = 2>}}
  rank.gemm ins(%x, %w, %b : !rank.buffer<32>, !rank.buffer<128>, !rank.buffer<32>) outs(%y0 : !rank.buffer<64>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 8, k = 4, lda = 4, ldb = 8, ldc = 8, epilogue = bias_gelu, vector = 2>]} {
  ^bb0(%tx: tensor<2x4xf32>, %tw: tensor<4x8xf32>, %tb: tensor<8xf32>):
    %0 = par.einsum "ik,kj->ij"(%tx, %tw) : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %1 = par.expand %tb dims [0] : tensor<8xf32> -> tensor<2x8xf32>
    %2 = arith.addf %0, %1 : tensor<2x8xf32>
    rank.yield %2 : tensor<2x8xf32>
  }
  rank.return
}

// -----

// An epilogue that is left out.
rank.func @f(%x: !rank.buffer<32>, %w: !rank.buffer<128>, %b: !rank.buffer<32>, %y0: !rank.buffer<64>) attributes {results = 1 : i64} {
  // expected-error @+1 {{rank_gemm_c3: `products` says #rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 8, k = 4, lda = 4, ldb = 8, ldc = 8>, but the region computes #rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 8, k = 4, lda = 4, ldb = 8, ldc = 8, epilogue = bias, vector = 2>}}
  rank.gemm ins(%x, %w, %b : !rank.buffer<32>, !rank.buffer<128>, !rank.buffer<32>) outs(%y0 : !rank.buffer<64>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 8, k = 4, lda = 4, ldb = 8, ldc = 8>]} {
  ^bb0(%tx: tensor<2x4xf32>, %tw: tensor<4x8xf32>, %tb: tensor<8xf32>):
    %0 = par.einsum "ik,kj->ij"(%tx, %tw) : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %1 = par.expand %tb dims [0] : tensor<8xf32> -> tensor<2x8xf32>
    %2 = arith.addf %0, %1 : tensor<2x8xf32>
    rank.yield %2 : tensor<2x8xf32>
  }
  rank.return
}

// -----

// Another vector.
rank.func @f(%x: !rank.buffer<32>, %w: !rank.buffer<128>, %b: !rank.buffer<32>, %y0: !rank.buffer<64>) attributes {results = 1 : i64} {
  // expected-error @+1 {{rank_gemm_c3: `products` says #rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 8, k = 4, lda = 4, ldb = 8, ldc = 8, epilogue = bias, vector = 1>, but the region computes #rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 8, k = 4, lda = 4, ldb = 8, ldc = 8, epilogue = bias, vector = 2>}}
  rank.gemm ins(%x, %w, %b : !rank.buffer<32>, !rank.buffer<128>, !rank.buffer<32>) outs(%y0 : !rank.buffer<64>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 8, k = 4, lda = 4, ldb = 8, ldc = 8, epilogue = bias, vector = 1>]} {
  ^bb0(%tx: tensor<2x4xf32>, %tw: tensor<4x8xf32>, %tb: tensor<8xf32>):
    %0 = par.einsum "ik,kj->ij"(%tx, %tw) : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %1 = par.expand %tb dims [0] : tensor<8xf32> -> tensor<2x8xf32>
    %2 = arith.addf %0, %1 : tensor<2x8xf32>
    rank.yield %2 : tensor<2x8xf32>
  }
  rank.return
}

// -----

// A vector that is a column: each element belongs to a row.
rank.func @f(%x: !rank.buffer<32>, %w: !rank.buffer<128>, %b: !rank.buffer<8>, %y0: !rank.buffer<64>) attributes {results = 1 : i64} {
  // expected-error @+1 {{rank_gemm_c1: the region holds what no call of the runtime computes}}
  rank.gemm ins(%x, %w, %b : !rank.buffer<32>, !rank.buffer<128>, !rank.buffer<8>) outs(%y0 : !rank.buffer<64>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 8, k = 4, lda = 4, ldb = 8, ldc = 8, epilogue = bias, vector = 2>]} {
  ^bb0(%tx: tensor<2x4xf32>, %tw: tensor<4x8xf32>, %tb: tensor<2xf32>):
    %0 = par.einsum "ik,kj->ij"(%tx, %tw) : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %1 = par.expand %tb dims [1] : tensor<2xf32> -> tensor<2x8xf32>
    %2 = arith.addf %0, %1 : tensor<2x8xf32>
    rank.yield %2 : tensor<2x8xf32>
  }
  rank.return
}

// -----

// The product is needed before its bias is added.
rank.func @f(%x: !rank.buffer<32>, %w: !rank.buffer<128>, %b: !rank.buffer<32>, %y0: !rank.buffer<64>, %y1: !rank.buffer<64>) attributes {results = 2 : i64} {
  // expected-error @+1 {{rank_gemm_c1: the region holds what no call of the runtime computes}}
  rank.gemm ins(%x, %w, %b : !rank.buffer<32>, !rank.buffer<128>, !rank.buffer<32>) outs(%y0, %y1 : !rank.buffer<64>, !rank.buffer<64>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 8, k = 4, lda = 4, ldb = 8, ldc = 8, epilogue = bias, vector = 2>]} {
  ^bb0(%tx: tensor<2x4xf32>, %tw: tensor<4x8xf32>, %tb: tensor<8xf32>):
    %0 = par.einsum "ik,kj->ij"(%tx, %tw) : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %1 = par.expand %tb dims [0] : tensor<8xf32> -> tensor<2x8xf32>
    %2 = arith.addf %0, %1 : tensor<2x8xf32>
    rank.yield %2, %0 : tensor<2x8xf32>, tensor<2x8xf32>
  }
  rank.return
}

// -----

// GELU's input, which is an output, is another one.
rank.func @f(%x: !rank.buffer<32>, %w: !rank.buffer<128>, %b: !rank.buffer<32>, %y0: !rank.buffer<64>, %y1: !rank.buffer<64>) attributes {results = 2 : i64} {
  // expected-error @+1 {{rank_gemm_c3: `products` says #rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 8, k = 4, lda = 4, ldb = 8, ldc = 8, epilogue = bias_gelu_aux, vector = 2, aux = 0>, but the region computes #rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 8, k = 4, lda = 4, ldb = 8, ldc = 8, epilogue = bias_gelu_aux, vector = 2, aux = 1>}}
  rank.gemm ins(%x, %w, %b : !rank.buffer<32>, !rank.buffer<128>, !rank.buffer<32>) outs(%y0, %y1 : !rank.buffer<64>, !rank.buffer<64>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 8, k = 4, lda = 4, ldb = 8, ldc = 8, epilogue = bias_gelu_aux, vector = 2, aux = 0>]} {
  ^bb0(%tx: tensor<2x4xf32>, %tw: tensor<4x8xf32>, %tb: tensor<8xf32>):
    %0 = par.einsum "ik,kj->ij"(%tx, %tw) : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %1 = par.expand %tb dims [0] : tensor<8xf32> -> tensor<2x8xf32>
    %2 = arith.addf %0, %1 : tensor<2x8xf32>
  %gx2 = arith.mulf %2, %2 : tensor<2x8xf32>
  %gx3 = arith.mulf %gx2, %2 : tensor<2x8xf32>
  %gc = arith.constant dense<4.471500e-02> : tensor<2x8xf32>
  %g0 = arith.mulf %gx3, %gc : tensor<2x8xf32>
  %g1 = arith.addf %2, %g0 : tensor<2x8xf32>
  %gs = arith.constant dense<0.797884583> : tensor<2x8xf32>
  %g2 = arith.mulf %g1, %gs : tensor<2x8xf32>
  %gt = math.tanh %g2 : tensor<2x8xf32>
  %gh = arith.constant dense<5.000000e-01> : tensor<2x8xf32>
  %g3 = arith.mulf %2, %gh : tensor<2x8xf32>
  %gi = arith.constant dense<1.000000e+00> : tensor<2x8xf32>
  %g4 = arith.addf %gt, %gi : tensor<2x8xf32>
  %3 = arith.mulf %g3, %g4 : tensor<2x8xf32>
    rank.yield %3, %2 : tensor<2x8xf32>, tensor<2x8xf32>
  }
  rank.return
}

// -----

// Another constant than GELU's.
rank.func @f(%x: !rank.buffer<32>, %w: !rank.buffer<128>, %b: !rank.buffer<32>, %y0: !rank.buffer<64>) attributes {results = 1 : i64} {
  // expected-error @+1 {{rank_gemm_c1: the region holds what no call of the runtime computes}}
  rank.gemm ins(%x, %w, %b : !rank.buffer<32>, !rank.buffer<128>, !rank.buffer<32>) outs(%y0 : !rank.buffer<64>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 8, k = 4, lda = 4, ldb = 8, ldc = 8, epilogue = bias_gelu, vector = 2>]} {
  ^bb0(%tx: tensor<2x4xf32>, %tw: tensor<4x8xf32>, %tb: tensor<8xf32>):
    %0 = par.einsum "ik,kj->ij"(%tx, %tw) : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %1 = par.expand %tb dims [0] : tensor<8xf32> -> tensor<2x8xf32>
    %2 = arith.addf %0, %1 : tensor<2x8xf32>
  %gx2 = arith.mulf %2, %2 : tensor<2x8xf32>
  %gx3 = arith.mulf %gx2, %2 : tensor<2x8xf32>
  %gc = arith.constant dense<4.571500e-02> : tensor<2x8xf32>
  %g0 = arith.mulf %gx3, %gc : tensor<2x8xf32>
  %g1 = arith.addf %2, %g0 : tensor<2x8xf32>
  %gs = arith.constant dense<0.797884583> : tensor<2x8xf32>
  %g2 = arith.mulf %g1, %gs : tensor<2x8xf32>
  %gt = math.tanh %g2 : tensor<2x8xf32>
  %gh = arith.constant dense<5.000000e-01> : tensor<2x8xf32>
  %g3 = arith.mulf %2, %gh : tensor<2x8xf32>
  %gi = arith.constant dense<1.000000e+00> : tensor<2x8xf32>
  %g4 = arith.addf %gt, %gi : tensor<2x8xf32>
  %3 = arith.mulf %g3, %g4 : tensor<2x8xf32>
    rank.yield %3 : tensor<2x8xf32>
  }
  rank.return
}

// -----

// A part of GELU is needed by somebody else.
rank.func @f(%x: !rank.buffer<32>, %w: !rank.buffer<128>, %b: !rank.buffer<32>, %y0: !rank.buffer<64>, %y1: !rank.buffer<64>) attributes {results = 2 : i64} {
  // expected-error @+1 {{rank_gemm_c1: the region holds what no call of the runtime computes}}
  rank.gemm ins(%x, %w, %b : !rank.buffer<32>, !rank.buffer<128>, !rank.buffer<32>) outs(%y0, %y1 : !rank.buffer<64>, !rank.buffer<64>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 8, k = 4, lda = 4, ldb = 8, ldc = 8, epilogue = bias_gelu, vector = 2>]} {
  ^bb0(%tx: tensor<2x4xf32>, %tw: tensor<4x8xf32>, %tb: tensor<8xf32>):
    %0 = par.einsum "ik,kj->ij"(%tx, %tw) : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %1 = par.expand %tb dims [0] : tensor<8xf32> -> tensor<2x8xf32>
    %2 = arith.addf %0, %1 : tensor<2x8xf32>
  %gx2 = arith.mulf %2, %2 : tensor<2x8xf32>
  %gx3 = arith.mulf %gx2, %2 : tensor<2x8xf32>
  %gc = arith.constant dense<4.471500e-02> : tensor<2x8xf32>
  %g0 = arith.mulf %gx3, %gc : tensor<2x8xf32>
  %g1 = arith.addf %2, %g0 : tensor<2x8xf32>
  %gs = arith.constant dense<0.797884583> : tensor<2x8xf32>
  %g2 = arith.mulf %g1, %gs : tensor<2x8xf32>
  %gt = math.tanh %g2 : tensor<2x8xf32>
  %gh = arith.constant dense<5.000000e-01> : tensor<2x8xf32>
  %g3 = arith.mulf %2, %gh : tensor<2x8xf32>
  %gi = arith.constant dense<1.000000e+00> : tensor<2x8xf32>
  %g4 = arith.addf %gt, %gi : tensor<2x8xf32>
  %3 = arith.mulf %g3, %g4 : tensor<2x8xf32>
    rank.yield %3, %g2 : tensor<2x8xf32>, tensor<2x8xf32>
  }
  rank.return
}

// -----

// The gradient at what is no input as large as C.
rank.func @f(%x: !rank.buffer<32>, %w: !rank.buffer<128>, %b: !rank.buffer<32>, %y0: !rank.buffer<64>) attributes {results = 1 : i64} {
  // expected-error @+1 {{rank_gemm_c1: the region holds what no call of the runtime computes}}
  rank.gemm ins(%x, %w, %b : !rank.buffer<32>, !rank.buffer<128>, !rank.buffer<32>) outs(%y0 : !rank.buffer<64>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 8, k = 4, lda = 4, ldb = 8, ldc = 8, epilogue = gelu_gradient, aux = 2>]} {
  ^bb0(%tx: tensor<2x4xf32>, %tw: tensor<4x8xf32>, %tb: tensor<8xf32>):
    %0 = par.einsum "ik,kj->ij"(%tx, %tw) : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %1 = par.expand %tb dims [0] : tensor<8xf32> -> tensor<2x8xf32>
  %gx2 = arith.mulf %1, %1 : tensor<2x8xf32>
  %gx3 = arith.mulf %gx2, %1 : tensor<2x8xf32>
  %gc = arith.constant dense<4.471500e-02> : tensor<2x8xf32>
  %g0 = arith.mulf %gx3, %gc : tensor<2x8xf32>
  %g1 = arith.addf %1, %g0 : tensor<2x8xf32>
  %gs = arith.constant dense<0.797884583> : tensor<2x8xf32>
  %g2 = arith.mulf %g1, %gs : tensor<2x8xf32>
  %gt = math.tanh %g2 : tensor<2x8xf32>
  %gh = arith.constant dense<5.000000e-01> : tensor<2x8xf32>
  %g3 = arith.mulf %1, %gh : tensor<2x8xf32>
  %gi = arith.constant dense<1.000000e+00> : tensor<2x8xf32>
  %g4 = arith.addf %gt, %gi : tensor<2x8xf32>
  %3 = arith.mulf %g3, %g4 : tensor<2x8xf32>
  %g5 = arith.mulf %0, %g4 : tensor<2x8xf32>
  %g6 = arith.mulf %0, %g3 : tensor<2x8xf32>
  %g7 = arith.mulf %g5, %gh : tensor<2x8xf32>
  %g8 = arith.mulf %gt, %gt : tensor<2x8xf32>
  %g9 = arith.subf %gi, %g8 : tensor<2x8xf32>
  %g10 = arith.mulf %g6, %g9 : tensor<2x8xf32>
  %g11 = arith.mulf %g10, %gs : tensor<2x8xf32>
  %g12 = arith.addf %g7, %g11 : tensor<2x8xf32>
  %g13 = arith.mulf %g11, %gc : tensor<2x8xf32>
  %g14 = arith.constant dense<3.000000e+00> : tensor<2x8xf32>
  %g15 = arith.mulf %g13, %g14 : tensor<2x8xf32>
  %g16 = arith.mulf %g15, %gx2 : tensor<2x8xf32>
  %g17 = arith.addf %g12, %g16 : tensor<2x8xf32>
    rank.yield %g17 : tensor<2x8xf32>
  }
  rank.return
}

// -----

// Sums of the other operand.
rank.func @f(%x: !rank.buffer<32>, %w: !rank.buffer<128>, %y0: !rank.buffer<64>, %y1: !rank.buffer<8>) attributes {results = 2 : i64} {
  // expected-error @+1 {{rank_gemm_c3: `products` says #rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 8, k = 4, lda = 4, ldb = 8, ldc = 8, epilogue = sums_b, vector = 1>, but the region computes #rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 8, k = 4, lda = 4, ldb = 8, ldc = 8, epilogue = sums_a, vector = 1>}}
  rank.gemm ins(%x, %w : !rank.buffer<32>, !rank.buffer<128>) outs(%y0, %y1 : !rank.buffer<64>, !rank.buffer<8>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 8, k = 4, lda = 4, ldb = 8, ldc = 8, epilogue = sums_b, vector = 1>]} {
  ^bb0(%tx: tensor<2x4xf32>, %tw: tensor<4x8xf32>):
    %0 = par.einsum "ik,kj->ij"(%tx, %tw) : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %1 = par.reduce sum %tx dims [1] : tensor<2x4xf32> -> tensor<2xf32>
    rank.yield %0, %1 : tensor<2x8xf32>, tensor<2xf32>
  }
  rank.return
}

// -----

// Sums over what is not contracted.
rank.func @f(%x: !rank.buffer<32>, %w: !rank.buffer<128>, %y0: !rank.buffer<64>, %y1: !rank.buffer<16>) attributes {results = 2 : i64} {
  // expected-error @+1 {{rank_gemm_c1: the region holds what no call of the runtime computes}}
  rank.gemm ins(%x, %w : !rank.buffer<32>, !rank.buffer<128>) outs(%y0, %y1 : !rank.buffer<64>, !rank.buffer<16>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 8, k = 4, lda = 4, ldb = 8, ldc = 8, epilogue = sums_a, vector = 1>]} {
  ^bb0(%tx: tensor<2x4xf32>, %tw: tensor<4x8xf32>):
    %0 = par.einsum "ik,kj->ij"(%tx, %tw) : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %1 = par.reduce sum %tx dims [0] : tensor<2x4xf32> -> tensor<4xf32>
    rank.yield %0, %1 : tensor<2x8xf32>, tensor<4xf32>
  }
  rank.return
}

// -----

// A maximum is no sum.
rank.func @f(%x: !rank.buffer<32>, %w: !rank.buffer<128>, %y0: !rank.buffer<64>, %y1: !rank.buffer<8>) attributes {results = 2 : i64} {
  // expected-error @+1 {{rank_gemm_c1: the region holds what no call of the runtime computes}}
  rank.gemm ins(%x, %w : !rank.buffer<32>, !rank.buffer<128>) outs(%y0, %y1 : !rank.buffer<64>, !rank.buffer<8>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 8, k = 4, lda = 4, ldb = 8, ldc = 8, epilogue = sums_a, vector = 1>]} {
  ^bb0(%tx: tensor<2x4xf32>, %tw: tensor<4x8xf32>):
    %0 = par.einsum "ik,kj->ij"(%tx, %tw) : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %1 = par.reduce max %tx dims [1] : tensor<2x4xf32> -> tensor<2xf32>
    rank.yield %0, %1 : tensor<2x8xf32>, tensor<2xf32>
  }
  rank.return
}

// -----

// The same where rows and columns are as many.
rank.func @f(%x: !rank.buffer<128>, %w: !rank.buffer<128>, %b: !rank.buffer<32>, %y0: !rank.buffer<256>) attributes {results = 1 : i64} {
  // expected-error @+1 {{rank_gemm_c1: the region holds what no call of the runtime computes}}
  rank.gemm ins(%x, %w, %b : !rank.buffer<128>, !rank.buffer<128>, !rank.buffer<32>) outs(%y0 : !rank.buffer<256>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 8, n = 8, k = 4, lda = 4, ldb = 8, ldc = 8, epilogue = bias, vector = 2>]} {
  ^bb0(%tx: tensor<8x4xf32>, %tw: tensor<4x8xf32>, %tb: tensor<8xf32>):
    %0 = par.einsum "ik,kj->ij"(%tx, %tw) : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    %1 = par.expand %tb dims [1] : tensor<8xf32> -> tensor<8x8xf32>
    %2 = arith.addf %0, %1 : tensor<8x8xf32>
    rank.yield %2 : tensor<8x8xf32>
  }
  rank.return
}

// -----

// Sums over rows as well: there are fewer than the product has rows.
rank.func @f(%x: !rank.buffer<96>, %w: !rank.buffer<128>, %y0: !rank.buffer<192>, %y1: !rank.buffer<8>) attributes {results = 2 : i64} {
  // expected-error @+1 {{rank_gemm_c1: the region holds what no call of the runtime computes}}
  rank.gemm ins(%x, %w : !rank.buffer<96>, !rank.buffer<128>) outs(%y0, %y1 : !rank.buffer<192>, !rank.buffer<8>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 6, n = 8, k = 4, lda = 4, ldb = 8, ldc = 8, epilogue = sums_a, vector = 1>]} {
  ^bb0(%tx: tensor<2x3x4xf32>, %tw: tensor<4x8xf32>):
    %0 = par.einsum "ilk,kj->ilj"(%tx, %tw) : (tensor<2x3x4xf32>, tensor<4x8xf32>) -> tensor<2x3x8xf32>
    %1 = par.reduce sum %tx dims [1, 2] : tensor<2x3x4xf32> -> tensor<2xf32>
    rank.yield %0, %1 : tensor<2x3x8xf32>, tensor<2xf32>
  }
  rank.return
}
