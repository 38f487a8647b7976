// RUN: par-opt %s -rank-to-llvm | FileCheck %s

// A GPU's kernels are a module of their own, and what the host calls by number stands in two lists, each entry once.
// CHECK: module @device attributes {
// CHECK-SAME: rank.kernels = [
// CHECK-SAME: block = array<i64: 128, 1, 1>, buffers = [{access = "read", bytes = 1204 : i64, space = "device"}, {access = "write", bytes = 1204 : i64, space = "device"}], coords = false, grid = array<i64: 3, 1, 1>, name = "kernel_0", plan = "generic", reason = "rows are no whole accesses", shared_bytes = 0 : i64},
// CHECK-SAME: {block = array<i64: 128, 1, 1>, buffers = [{access = "read", bytes = 8192 : i64, space = "device"}, {access = "write", bytes = 8192 : i64, space = "device"}], coords = false, grid = array<i64: 4, 1, 1>, name = "kernel_1", plan = "elementwise", shared_bytes = 0 : i64}]
// CHECK-SAME: rank.products = [
// CHECK-SAME: {batch = 1 : i64, beta = "none", k = 3 : i64, lda = 3 : i64, ldb = 3 : i64, ldc = 4 : i64, m = 2 : i64, n = 4 : i64, result = "f32", stride_a = 1 : i64, stride_b = 1 : i64, stride_c = 1 : i64, transpose_a = false, transpose_b = true, type = "f32", workspace = 0 : i64},
// CHECK-SAME: {batch = 1 : i64, beta = "value", k = 3 : i64,
// CHECK-SAME: workspace = 512 : i64}]
// A thread is a part: its number, of how many. Of rows that cannot be cut into whole accesses it has single elements.
// CHECK: llvm.func @kernel_0(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr) attributes {
// CHECK-SAME: nvvm.kernel, nvvm.maxntid = array<i32: 128, 1, 1>
// CHECK: nvvm.read.ptx.sreg.tid.x
// CHECK: nvvm.read.ptx.sreg.ctaid.x
// CHECK: llvm.call @kernel_0_part(
// Eight elements of bf16 are an access of 16 bytes; all are there before one is written.
// CHECK: llvm.func internal @kernel_1_part(
// CHECK-COUNT-8: llvm.load
// CHECK-NOT: llvm.load
// CHECK-COUNT-8: llvm.store
// CHECK: llvm.func @kernel_1(%{{.*}}: !llvm.ptr {llvm.align = 16 : i64}, %{{.*}}: !llvm.ptr {llvm.align = 16 : i64}) attributes {

module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
// Equal kernels have one number.
// CHECK: llvm.func internal @elementwise.rank(%[[CONTEXT:[^:]*]]: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %[[X:[^:]*]]: !llvm.ptr, %[[Y:[^:]*]]: !llvm.ptr)
// CHECK: %[[NUMBER:.*]] = llvm.mlir.constant(0 : i32)
// CHECK-NEXT: llvm.call @par_launch(%[[CONTEXT]], %[[NUMBER]], %{{.*}})
// CHECK: %[[AGAIN:.*]] = llvm.mlir.constant(0 : i32)
// CHECK-NEXT: llvm.call @par_launch(%[[CONTEXT]], %[[AGAIN]], %{{.*}})
rank.func @elementwise(%x: !rank.buffer<1204>, %y: !rank.buffer<1204>) attributes {frame = 0 : i64, results = 1 : i64} {
  rank.kernel ins(%x : !rank.buffer<1204>) outs(%y : !rank.buffer<1204>) {
  ^bb0(%a: tensor<301xf32>):
    %0 = arith.addf %a, %a : tensor<301xf32>
    rank.yield %0 : tensor<301xf32>
  }
  rank.kernel ins(%x : !rank.buffer<1204>) outs(%y : !rank.buffer<1204>) {
  ^bb0(%a: tensor<301xf32>):
    %0 = arith.addf %a, %a : tensor<301xf32>
    rank.yield %0 : tensor<301xf32>
  }
  rank.return
}

// CHECK: llvm.func internal @wide.rank(
// CHECK: %[[NUMBER:.*]] = llvm.mlir.constant(1 : i32)
// CHECK-NEXT: llvm.call @par_launch(%{{.*}}, %[[NUMBER]], %{{.*}})
rank.func @wide(%x: !rank.buffer<8192>, %y: !rank.buffer<8192>) attributes {frame = 0 : i64, results = 1 : i64} {
  rank.kernel ins(%x : !rank.buffer<8192>) outs(%y : !rank.buffer<8192>) {
  ^bb0(%a: tensor<4096xbf16>):
    %0 = arith.negf %a : tensor<4096xbf16>
    rank.yield %0 : tensor<4096xbf16>
  }
  rank.return
}

// Buffers A, B, D (none), C and the workspace; no address of beta.
// CHECK: llvm.func internal @product.rank(%[[CONTEXT:[^:]*]]: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %[[X:[^:]*]]: !llvm.ptr, %[[W:[^:]*]]: !llvm.ptr, %[[Y:[^:]*]]: !llvm.ptr)
// CHECK: %[[BETA:.*]] = llvm.mlir.zero
// CHECK: llvm.store %[[X]],
// CHECK: llvm.store %[[W]],
// CHECK: %[[D:.*]] = llvm.mlir.zero
// CHECK: llvm.store %[[D]],
// CHECK: llvm.store %[[Y]],
// CHECK: %[[NUMBER:.*]] = llvm.mlir.constant(0 : i32)
// CHECK: llvm.call @par_product_call(%[[CONTEXT]], %[[NUMBER]], %{{.*}}, %[[BETA]])
rank.func @product(%x: !rank.buffer<24>, %w: !rank.buffer<48>, %y: !rank.buffer<32>) attributes {frame = 0 : i64, results = 1 : i64} {
  rank.gemm ins(%x, %w : !rank.buffer<24>, !rank.buffer<48>) outs(%y : !rank.buffer<32>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 4, k = 3, transpose_b = true, lda = 3, ldb = 3, ldc = 4>]} {
  ^bb0(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>):
    %0 = par.einsum "ik,jk->ij"(%a, %b) : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
    rank.yield %0 : tensor<2x4xf32>
  }
  rank.return
}

// beta is never read here, where device memory is not: its address is passed on.
// CHECK: llvm.func internal @accumulate.rank(%[[CONTEXT:[^:]*]]: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %[[D:[^:]*]]: !llvm.ptr, %[[BETA:[^:]*]]: !llvm.ptr, %[[Y:[^:]*]]: !llvm.ptr)
// CHECK-NOT: llvm.load
// CHECK: llvm.store %[[D]],
// CHECK: %[[NUMBER:.*]] = llvm.mlir.constant(1 : i32)
// CHECK: llvm.call @par_product_call(%[[CONTEXT]], %[[NUMBER]], %{{.*}}, %[[BETA]])
rank.func @accumulate(%x: !rank.buffer<24>, %w: !rank.buffer<48>, %d: !rank.buffer<32>, %s: !rank.buffer<4>, %y: !rank.buffer<32>) attributes {frame = 512 : i64, results = 1 : i64} {
  %room = rank.alloc workspace {offset = 0 : i64} : !rank.buffer<512>
  rank.gemm ins(%x, %w, %d, %s : !rank.buffer<24>, !rank.buffer<48>, !rank.buffer<32>, !rank.buffer<4>) outs(%y : !rank.buffer<32>) scratch(%room : !rank.buffer<512>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 4, k = 3, transpose_b = true, lda = 3, ldb = 3, ldc = 4, beta = 1, addend = 2, scale = 3>]} {
  ^bb0(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>, %acc: tensor<2x4xf32>, %scale: tensor<f32>):
    %0 = par.einsum "ik,jk->ij"(%a, %b) : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
    %1 = par.expand %scale dims [0, 1] : tensor<f32> -> tensor<2x4xf32>
    %2 = arith.mulf %1, %acc : tensor<2x4xf32>
    %3 = arith.addf %0, %2 : tensor<2x4xf32>
    rank.yield %3 : tensor<2x4xf32>
  }
  rank.return
}
}
