// RUN: par-opt %s -rank-to-llvm | FileCheck %s

// A call of the runtime with transposes, sizes m n k, and leading dimension and batch stride of a, b and c.
// CHECK-LABEL: llvm.func internal @transposed.rank(
// CHECK-SAME: %[[CONTEXT:[^:]*]]: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %[[A:[^:]*]]: !llvm.ptr, %[[B:[^:]*]]: !llvm.ptr, %[[C:[^:]*]]: !llvm.ptr)
// CHECK-NEXT: %[[BETA:.*]] = llvm.mlir.constant(0.000000e+00 : f32)
// CHECK-NEXT: %[[TA:.*]] = llvm.mlir.constant(0 : i32)
// CHECK-NEXT: %[[TB:.*]] = llvm.mlir.constant(1 : i32)
// CHECK-NEXT: %[[M:.*]] = llvm.mlir.constant(2 : i64)
// CHECK-NEXT: %[[N:.*]] = llvm.mlir.constant(4 : i64)
// CHECK-NEXT: %[[K:.*]] = llvm.mlir.constant(3 : i64)
// CHECK-NEXT: %[[LDA:.*]] = llvm.mlir.constant(3 : i64)
// CHECK-NEXT: %[[SA:.*]] = llvm.mlir.constant
// CHECK-NEXT: %[[LDB:.*]] = llvm.mlir.constant(3 : i64)
// CHECK-NEXT: %[[SB:.*]] = llvm.mlir.constant
// CHECK-NEXT: %[[LDC:.*]] = llvm.mlir.constant(4 : i64)
// CHECK-NEXT: %[[SC:.*]] = llvm.mlir.constant
// CHECK-NEXT: %[[BATCH:.*]] = llvm.mlir.constant(1 : i64)
// CHECK-NEXT: llvm.call @par_gemm(%[[CONTEXT]], %[[TA]], %[[TB]], %[[M]], %[[N]], %[[K]], %[[A]], %[[LDA]], %[[SA]], %[[B]], %[[LDB]], %[[SB]], %[[BETA]], %[[C]], %[[C]], %[[LDC]], %[[SC]], %[[BATCH]])
rank.func @transposed(%x: !rank.buffer<24>, %w: !rank.buffer<48>, %y: !rank.buffer<32>) attributes {frame = 0 : i64, results = 1 : i64} {
  rank.gemm ins(%x, %w : !rank.buffer<24>, !rank.buffer<48>) outs(%y : !rank.buffer<32>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 4, k = 3, transpose_b = true, lda = 3, ldb = 3, ldc = 4>]} {
  ^bb0(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>):
    %0 = par.einsum "ik,jk->ij"(%a, %b) : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
    rank.yield %0 : tensor<2x4xf32>
  }
  rank.return
}

// The result is ordered as the second operand first: the operands change places.
// CHECK-LABEL: llvm.func internal @swapped.rank(
// CHECK-SAME: %{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %[[X:[^:]*]]: !llvm.ptr, %[[W:[^:]*]]: !llvm.ptr, %[[Y:[^:]*]]: !llvm.ptr)
// CHECK: llvm.call @par_gemm({{[^)]*}}, %[[W]], {{[^)]*}}, %[[X]], {{[^)]*}}, %[[Y]], %[[Y]],
rank.func @swapped(%x: !rank.buffer<24>, %w: !rank.buffer<48>, %y: !rank.buffer<32>) attributes {frame = 0 : i64, results = 1 : i64} {
  rank.gemm ins(%x, %w : !rank.buffer<24>, !rank.buffer<48>) outs(%y : !rank.buffer<32>) attributes {products = [#rank.product<a = 1, b = 0, c = 0, from = f32, to = f32, m = 4, n = 2, k = 3, transpose_b = true, lda = 3, ldb = 3, ldc = 2>]} {
  ^bb0(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>):
    %0 = par.einsum "ik,jk->ji"(%a, %b) : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<4x2xf32>
    rank.yield %0 : tensor<4x2xf32>
  }
  rank.return
}

// Batches: strides of 2x3, 3x4 and 2x4 elements, five of them.
// CHECK-LABEL: llvm.func internal @batched.rank(
// CHECK-COUNT-6: llvm.mlir.constant
// CHECK: %[[SA:.*]] = llvm.mlir.constant(6 : i64)
// CHECK-NEXT: llvm.mlir.constant(4 : i64)
// CHECK-NEXT: %[[SB:.*]] = llvm.mlir.constant(12 : i64)
// CHECK-NEXT: llvm.mlir.constant(4 : i64)
// CHECK-NEXT: %[[SC:.*]] = llvm.mlir.constant(8 : i64)
// CHECK-NEXT: %[[BATCH:.*]] = llvm.mlir.constant(5 : i64)
// CHECK-NEXT: llvm.call @par_gemm({{.*}}, %[[SA]], %{{.*}}, %[[SB]], %{{.*}}, %[[SC]], %[[BATCH]])
rank.func @batched(%x: !rank.buffer<120>, %w: !rank.buffer<240>, %y: !rank.buffer<160>) attributes {frame = 0 : i64, results = 1 : i64} {
  rank.gemm ins(%x, %w : !rank.buffer<120>, !rank.buffer<240>) outs(%y : !rank.buffer<160>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 4, k = 3, batch = 5, lda = 3, ldb = 4, ldc = 4, stride_a = 6, stride_b = 12, stride_c = 8>]} {
  ^bb0(%a: tensor<5x2x3xf32>, %b: tensor<5x3x4xf32>):
    %0 = par.einsum "bik,bkj->bij"(%a, %b) : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
    rank.yield %0 : tensor<5x2x4xf32>
  }
  rank.return
}

// An einsum that is no matrix product is generated as loops.
// CHECK-LABEL: llvm.func internal @loops.rank(
// CHECK: llvm.mlir.addressof @kernel_0.part
// CHECK-NOT: @par_gemm
// CHECK: llvm.call @par_parallel
rank.func @loops(%x: !rank.buffer<24>, %w: !rank.buffer<24>, %y: !rank.buffer<24>) attributes {frame = 0 : i64, results = 1 : i64} {
  rank.kernel ins(%x, %w : !rank.buffer<24>, !rank.buffer<24>) outs(%y : !rank.buffer<24>) {
  ^bb0(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>):
    %0 = par.einsum "ij,ji->ij"(%a, %b) : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x3xf32>
    rank.yield %0 : tensor<2x3xf32>
  }
  rank.return
}

// What is added: as it is, or times a scalar that is read when the program runs.
// CHECK-LABEL: llvm.func internal @added.rank(
// CHECK-SAME: %[[X:[^:]*]]: !llvm.ptr, %[[W:[^:]*]]: !llvm.ptr, %[[R:[^:]*]]: !llvm.ptr, %[[S:[^:]*]]: !llvm.ptr, %[[Y:[^:]*]]: !llvm.ptr, %[[Z:[^:]*]]: !llvm.ptr)
// CHECK: %[[ONE:.*]] = llvm.mlir.constant(1.000000e+00 : f32)
// CHECK: llvm.call @par_gemm({{.*}}, %[[ONE]], %[[R]], %[[Y]],
// CHECK: %[[BETA:.*]] = llvm.load %[[S]] : !llvm.ptr -> f32
// CHECK: llvm.call @par_gemm({{.*}}, %[[BETA]], %[[R]], %[[Z]],
rank.func @added(%x: !rank.buffer<24>, %w: !rank.buffer<48>, %r: !rank.buffer<32>, %s: !rank.buffer<4>, %y: !rank.buffer<32>, %z: !rank.buffer<32>) attributes {frame = 0 : i64, results = 2 : i64} {
  rank.gemm ins(%x, %w, %r : !rank.buffer<24>, !rank.buffer<48>, !rank.buffer<32>) outs(%y : !rank.buffer<32>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 4, k = 3, transpose_b = true, lda = 3, ldb = 3, ldc = 4, beta = 1, addend = 2>]} {
  ^bb0(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>, %c: tensor<2x4xf32>):
    %0 = par.einsum "ik,jk->ij"(%a, %b) : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
    %1 = arith.addf %c, %0 : tensor<2x4xf32>
    rank.yield %1 : tensor<2x4xf32>
  }
  rank.gemm ins(%s, %r, %x, %w : !rank.buffer<4>, !rank.buffer<32>, !rank.buffer<24>, !rank.buffer<48>) outs(%z : !rank.buffer<32>) attributes {products = [#rank.product<a = 2, b = 3, c = 0, from = f32, to = f32, m = 2, n = 4, k = 3, transpose_b = true, lda = 3, ldb = 3, ldc = 4, beta = 1, addend = 1, scale = 0>]} {
  ^bb0(%beta: tensor<f32>, %c: tensor<2x4xf32>, %a: tensor<2x3xf32>, %b: tensor<4x3xf32>):
    %0 = par.expand %beta dims [0, 1] : tensor<f32> -> tensor<2x4xf32>
    %1 = arith.mulf %0, %c : tensor<2x4xf32>
    %2 = par.einsum "ik,jk->ij"(%a, %b) : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
    %3 = arith.addf %1, %2 : tensor<2x4xf32>
    rank.yield %3 : tensor<2x4xf32>
  }
  rank.return
}

// Joined products are records on the stack: here two terms of one sum, the second added where the first lies, and a second sum that begins
// with its first term.
// CHECK-LABEL: llvm.func internal @joined.rank(
// CHECK-SAME: %[[X:[^:]*]]: !llvm.ptr, %[[W:[^:]*]]: !llvm.ptr, %[[R:[^:]*]]: !llvm.ptr, %[[Y:[^:]*]]: !llvm.ptr, %[[Z:[^:]*]]: !llvm.ptr)
// CHECK: %[[RECORDS:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(i32, i32, i64, i64, i64, ptr, i64, ptr, i64, f32, ptr, ptr, i64)>
// CHECK: %[[A0:.*]] = llvm.getelementptr %[[RECORDS]][0, 5]
// CHECK-NEXT: llvm.store %[[X]], %[[A0]]
// CHECK-NEXT: %[[LDA0:.*]] = llvm.getelementptr %[[RECORDS]][0, 6]
// CHECK-NEXT: llvm.store %{{.*}}, %[[LDA0]] : i64
// CHECK-NEXT: %[[B0:.*]] = llvm.getelementptr %[[RECORDS]][0, 7]
// CHECK-NEXT: llvm.store %[[W]], %[[B0]]
// CHECK-NEXT: %[[LDB0:.*]] = llvm.getelementptr %[[RECORDS]][0, 8]
// CHECK-NEXT: llvm.store %{{.*}}, %[[LDB0]] : i64
// CHECK: %[[D0:.*]] = llvm.getelementptr %[[RECORDS]][0, 10]
// CHECK-NEXT: llvm.store %[[R]], %[[D0]]
// CHECK-NEXT: %[[C0:.*]] = llvm.getelementptr %[[RECORDS]][0, 11]
// CHECK-NEXT: llvm.store %[[Y]], %[[C0]]
// CHECK: %[[ONE:.*]] = llvm.mlir.constant(1.000000e+00 : f32)
// CHECK: %[[B1:.*]] = llvm.getelementptr %[[RECORDS]][1, 9]
// CHECK-NEXT: llvm.store %[[ONE]], %[[B1]]
// CHECK-NEXT: %[[D1:.*]] = llvm.getelementptr %[[RECORDS]][1, 10]
// CHECK-NEXT: llvm.store %[[Y]], %[[D1]]
// CHECK-NEXT: %[[C1:.*]] = llvm.getelementptr %[[RECORDS]][1, 11]
// CHECK-NEXT: llvm.store %[[Y]], %[[C1]]
// CHECK: %[[ZERO:.*]] = llvm.mlir.constant(0.000000e+00 : f32)
// CHECK: %[[B2:.*]] = llvm.getelementptr %[[RECORDS]][2, 9]
// CHECK-NEXT: llvm.store %[[ZERO]], %[[B2]]
// CHECK: %[[C2:.*]] = llvm.getelementptr %[[RECORDS]][2, 11]
// CHECK-NEXT: llvm.store %[[Z]], %[[C2]]
// CHECK: %[[SECOND:.*]] = llvm.mlir.constant(1.000000e+00 : f32)
// CHECK: %[[B3:.*]] = llvm.getelementptr %[[RECORDS]][3, 9]
// CHECK-NEXT: llvm.store %[[SECOND]], %[[B3]]
// CHECK: %[[C3:.*]] = llvm.getelementptr %[[RECORDS]][3, 11]
// CHECK-NEXT: llvm.store %[[Z]], %[[C3]]
// CHECK: %[[COUNT:.*]] = llvm.mlir.constant(4 : i64)
// CHECK-NEXT: llvm.call @par_products(%{{.*}}, %[[RECORDS]], %[[COUNT]])
// CHECK-NOT: @par_gemm
// CHECK: llvm.return
rank.func @joined(%x: !rank.buffer<24>, %w: !rank.buffer<48>, %r: !rank.buffer<32>, %y: !rank.buffer<32>, %z: !rank.buffer<32>) attributes {frame = 0 : i64, results = 2 : i64} {
  rank.gemm ins(%x, %w, %r : !rank.buffer<24>, !rank.buffer<48>, !rank.buffer<32>) outs(%y, %z : !rank.buffer<32>, !rank.buffer<32>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 4, k = 3, transpose_b = true, lda = 3, ldb = 3, ldc = 4, beta = 1, addend = 2>, #rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 4, k = 3, transpose_b = true, lda = 3, ldb = 3, ldc = 4, beta = 1>, #rank.product<a = 0, b = 1, c = 1, from = f32, to = f32, m = 2, n = 4, k = 3, transpose_b = true, lda = 3, ldb = 3, ldc = 4>, #rank.product<a = 0, b = 1, c = 1, from = f32, to = f32, m = 2, n = 4, k = 3, transpose_b = true, lda = 3, ldb = 3, ldc = 4, beta = 1>]} {
  ^bb0(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>, %c: tensor<2x4xf32>):
    %0 = par.einsum "ik,jk->ij"(%a, %b) : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
    %1 = arith.addf %c, %0 : tensor<2x4xf32>
    %2 = par.einsum "ik,jk->ij"(%a, %b) : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
    %3 = arith.addf %1, %2 : tensor<2x4xf32>
    %4 = par.einsum "ik,jk->ij"(%a, %b) : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
    %5 = par.einsum "ik,jk->ij"(%a, %b) : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
    %6 = arith.addf %4, %5 : tensor<2x4xf32>
    rank.yield %3, %6 : tensor<2x4xf32>, tensor<2x4xf32>
  }
  rank.return
}
