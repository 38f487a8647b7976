// RUN: par-opt %s -rank-to-llvm | FileCheck %s
// RUN: sed 's/target = "cuda", chip = "sm_90"/target = "cpu"/' %s | not par-opt -rank-to-llvm 2>&1 | FileCheck %s --check-prefix=CPU

// CPU: error: 'rank.gemm' op rank-to-llvm: a product has the epilogue bias_gelu_aux, expected none: only products of a device's program have some (--target cuda)

// An entry says its epilogue; the call has its vector and what GELU is of behind A, B, D and C, null for none.
// Where the product is computed alone, kernels compute the epilogue on buffers of the call: over C, which they read.
// CHECK: rank.kernels = [
// CHECK-SAME: access = "read", bytes = 32 : i64, {{[^]]*}}access = "read", bytes = 64 : i64, {{[^]]*}}access = "write", bytes = 64 : i64, {{[^]]*}}access = "write", bytes = 64 : i64, {{[^]]*}}], {{[^}]*}}name = "epilogue_0",
// CHECK-SAME: name = "epilogue_1",
// CHECK-SAME: access = "read", bytes = 32 : i64, {{[^]]*}}access = "write", bytes = 8 : i64, {{[^]]*}}], {{[^}]*}}name = "epilogue_2",
// CHECK-SAME: rank.products = [
// CHECK-SAME: {batch = 1 : i64, beta = "none", epilogue = "bias_gelu_aux", k = 4 : i64,
// CHECK-SAME: separate = [{buffers = array<i64: 4, 3, 3, 5>, kernel = 0 : i64}],
// CHECK-SAME: {batch = 1 : i64, beta = "none", epilogue = "gelu_gradient", k = 4 : i64,
// CHECK-SAME: separate = [{buffers = array<i64: 5, 3, 3>, kernel = 1 : i64}],
// CHECK-SAME: {batch = 1 : i64, beta = "none", epilogue = "sums_a", k = 4 : i64,
// CHECK-SAME: separate = [{buffers = array<i64: 0, 4>, kernel = 2 : i64}],
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
// CHECK: llvm.func internal @gelu.rank(%[[CONTEXT:[^:]*]]: !llvm.ptr, %[[FRAME:[^:]*]]: !llvm.ptr, %[[X:[^:]*]]: !llvm.ptr, %[[W:[^:]*]]: !llvm.ptr, %[[BIAS:[^:]*]]: !llvm.ptr, %[[C:[^:]*]]: !llvm.ptr, %[[AUX:[^:]*]]: !llvm.ptr)
// CHECK: llvm.store %[[X]],
// CHECK: llvm.store %[[W]],
// CHECK: %[[D:.*]] = llvm.mlir.zero
// CHECK: llvm.store %[[D]],
// CHECK: llvm.store %[[C]],
// CHECK: llvm.store %[[BIAS]],
// CHECK: llvm.store %[[AUX]],
// CHECK: llvm.call @par_product_call(
rank.func @gelu(%x: !rank.buffer<32>, %w: !rank.buffer<128>, %b: !rank.buffer<32>, %y0: !rank.buffer<64>, %y1: !rank.buffer<64>) attributes {frame = 0 : i64, results = 2 : i64} {
  rank.gemm ins(%x, %w, %b : !rank.buffer<32>, !rank.buffer<128>, !rank.buffer<32>) outs(%y0, %y1 : !rank.buffer<64>, !rank.buffer<64>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 8, k = 4, lda = 4, ldb = 8, ldc = 8, epilogue = bias_gelu_aux, vector = 2, aux = 1>]} {
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

// CHECK: llvm.func internal @gradient.rank(%[[CONTEXT:[^:]*]]: !llvm.ptr, %[[FRAME:[^:]*]]: !llvm.ptr, %[[X:[^:]*]]: !llvm.ptr, %[[W:[^:]*]]: !llvm.ptr, %[[AUX:[^:]*]]: !llvm.ptr, %[[C:[^:]*]]: !llvm.ptr)
// CHECK: llvm.store %[[C]],
// CHECK: %[[VECTOR:.*]] = llvm.mlir.zero
// CHECK: llvm.store %[[VECTOR]],
// CHECK: llvm.store %[[AUX]],
// CHECK: llvm.call @par_product_call(
rank.func @gradient(%x: !rank.buffer<32>, %w: !rank.buffer<128>, %t: !rank.buffer<64>, %y0: !rank.buffer<64>) attributes {frame = 0 : i64, results = 1 : i64} {
  rank.gemm ins(%x, %w, %t : !rank.buffer<32>, !rank.buffer<128>, !rank.buffer<64>) outs(%y0 : !rank.buffer<64>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 8, k = 4, lda = 4, ldb = 8, ldc = 8, epilogue = gelu_gradient, aux = 2>]} {
  ^bb0(%tx: tensor<2x4xf32>, %tw: tensor<4x8xf32>, %tt: tensor<2x8xf32>):
    %0 = par.einsum "ik,kj->ij"(%tx, %tw) : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
  %gx2 = arith.mulf %tt, %tt : tensor<2x8xf32>
  %gx3 = arith.mulf %gx2, %tt : tensor<2x8xf32>
  %gc = arith.constant dense<4.471500e-02> : tensor<2x8xf32>
  %g0 = arith.mulf %gx3, %gc : tensor<2x8xf32>
  %g1 = arith.addf %tt, %g0 : tensor<2x8xf32>
  %gs = arith.constant dense<0.797884583> : tensor<2x8xf32>
  %g2 = arith.mulf %g1, %gs : tensor<2x8xf32>
  %gt = math.tanh %g2 : tensor<2x8xf32>
  %gh = arith.constant dense<5.000000e-01> : tensor<2x8xf32>
  %g3 = arith.mulf %tt, %gh : tensor<2x8xf32>
  %gi = arith.constant dense<1.000000e+00> : tensor<2x8xf32>
  %g4 = arith.addf %gt, %gi : tensor<2x8xf32>
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

// CHECK: llvm.func internal @sums.rank(%[[CONTEXT:[^:]*]]: !llvm.ptr, %[[FRAME:[^:]*]]: !llvm.ptr, %[[X:[^:]*]]: !llvm.ptr, %[[W:[^:]*]]: !llvm.ptr, %[[C:[^:]*]]: !llvm.ptr, %[[SUMS:[^:]*]]: !llvm.ptr)
// CHECK: llvm.store %[[C]],
// CHECK: llvm.store %[[SUMS]],
// CHECK: %[[AUX:.*]] = llvm.mlir.zero
// CHECK: llvm.store %[[AUX]],
// CHECK: llvm.call @par_product_call(
rank.func @sums(%x: !rank.buffer<32>, %w: !rank.buffer<128>, %y0: !rank.buffer<64>, %y1: !rank.buffer<8>) attributes {frame = 0 : i64, results = 2 : i64} {
  rank.gemm ins(%x, %w : !rank.buffer<32>, !rank.buffer<128>) outs(%y0, %y1 : !rank.buffer<64>, !rank.buffer<8>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 8, k = 4, lda = 4, ldb = 8, ldc = 8, epilogue = sums_a, vector = 1>]} {
  ^bb0(%tx: tensor<2x4xf32>, %tw: tensor<4x8xf32>):
    %0 = par.einsum "ik,kj->ij"(%tx, %tw) : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %1 = par.reduce sum %tx dims [1] : tensor<2x4xf32> -> tensor<2xf32>
    rank.yield %0, %1 : tensor<2x8xf32>, tensor<2xf32>
  }
  rank.return
}

}
