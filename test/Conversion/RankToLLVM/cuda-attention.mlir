// RUN: par-opt %s -split-input-file -rank-to-llvm | FileCheck %s

// A block of four warps has 64 queries of a head and walks the keys. Keys behind all queries are not loaded: a branch around both barriers. Products of
// bf16 are mma.sync, of operands that ldmatrix brings, transposed for the second one; what a warp has of a row it combines over four lanes.
// CHECK: {block = array<i64: 128, 1, 1>, buffers = [{access = "read", bytes = 65536 : i64, space = "device"}, {access = "read", bytes = 32768 : i64, space = "device"}, {access = "read", bytes = 32768 : i64, space = "device"},
// CHECK-SAME: {access = "read", bytes = 512 : i64, space = "device"}, {access = "read", bytes = 512 : i64, space = "device"}, {access = "write", bytes = 65536 : i64, space = "device"}, {access = "write", bytes = 1024 : i64, space = "device"}]
// CHECK-SAME: grid = array<i64: 4, 1, 1>, name = "attention_0", plan = "attention-forward", reason = "no cuDNN: positions that are no diagonal", shared_bytes = 52992 : i64}
// CHECK: llvm.mlir.global external @shared_of_launch() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
// CHECK: llvm.func @attention_0(
// CHECK-SAME: nvvm.maxntid = array<i32: 128, 1, 1>
// CHECK: nvvm.shfl.sync bfly
// CHECK: llvm.cond_br
// CHECK: nvvm.barrier0
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xi32>
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
// CHECK: nvvm.barrier0
// CHECK: nvvm.ldmatrix %{{.*}} {layout = #nvvm.mma_layout<row>, num = 4 : i32}
// CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"
// CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"
// CHECK: nvvm.ldmatrix %{{.*}} {layout = #nvvm.mma_layout<col>, num = 4 : i32}
// CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"
// CHECK-NOT: nvvm.ldmatrix %{{.*}} {layout = #nvvm.mma_layout<row>
// CHECK: llvm.return
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
// CHECK: llvm.func internal @forward.rank(
// CHECK: llvm.call @par_launch(
// CHECK-NOT: llvm.call
rank.func @forward(%q: !rank.buffer<65536>, %k: !rank.buffer<32768>, %v: !rank.buffer<32768>, %p: !rank.buffer<512>, %r: !rank.buffer<512>,
                   %o: !rank.buffer<65536>, %l: !rank.buffer<1024>) attributes {frame = 0 : i64, results = 2 : i64} {
  rank.attention ins(%q, %k, %v, %p, %r : !rank.buffer<65536>, !rank.buffer<32768>, !rank.buffer<32768>, !rank.buffer<512>, !rank.buffer<512>)
                 outs(%o, %l : !rank.buffer<65536>, !rank.buffer<1024>)
                 attributes {structure = #rank.attention<type = bf16, batch = 1, q_rows = 128, k_rows = 128, kv_heads = 1, group = 2, head_dim = 128, value_dim = 128, q = <buffer = 0, stride = 256>, k = <buffer = 1, stride = 128>, v = <buffer = 2, stride = 128>>} {
  ^bb0(%a: tensor<1x128x1x2x128xbf16>, %b: tensor<1x128x1x128xbf16>, %c: tensor<1x128x1x128xbf16>, %d: tensor<128xi32>, %e: tensor<128xi32>):
    %out, %lse = par.attention %a, %b, %c positions %d, %e {causal, scale = 0.5}
        : (tensor<1x128x1x2x128xbf16>, tensor<1x128x1x128xbf16>, tensor<1x128x1x128xbf16>, tensor<128xi32>, tensor<128xi32>) -> (tensor<1x128x1x2x128xbf16>, tensor<1x1x2x128xf32>)
    rank.yield %out, %lse : tensor<1x128x1x2x128xbf16>, tensor<1x1x2x128xf32>
  }
  rank.return
}
}

// -----

// Backward: one launch for queries, which leaves a number for each row in scratch, and one behind it for keys and values. Their rows are parts of one
// tensor, which each launch writes in parts. No atomics. f32 is multiplied by each lane, what it has of probabilities goes through shared memory.
// CHECK: {block = array<i64: 32, 1, 1>
// CHECK-SAME: {access = "update", bytes = 288 : i64, space = "device"}, {access = "write", bytes = 24 : i64, space = "device"}]
// CHECK-SAME: grid = array<i64: 2, 1, 1>, name = "attention_0", plan = "attention-queries"
// CHECK-SAME: {access = "read", bytes = 24 : i64, space = "device"}, {access = "update", bytes = 288 : i64, space = "device"}]
// CHECK-SAME: grid = array<i64: 2, 1, 1>, name = "attention_0_keys", plan = "attention-keys"
// CHECK-NOT: atomic
// CHECK: llvm.func @attention_0(
// CHECK-NOT: mma
// CHECK: nvvm.bar.warp.sync
// CHECK: llvm.intr.fma
// CHECK: llvm.func @attention_0_keys(
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
// CHECK: llvm.func internal @backward.rank(
// CHECK: llvm.call @par_launch(
// CHECK: llvm.call @par_launch(
rank.func @backward(%dout: !rank.buffer<96>, %q: !rank.buffer<288>, %o: !rank.buffer<96>, %l: !rank.buffer<24>, %p: !rank.buffer<12>,
                    %d: !rank.buffer<288>) attributes {frame = 256 : i64, results = 1 : i64} {
  %s = rank.alloc workspace {offset = 0 : i64} : !rank.buffer<24>
  rank.attention ins(%dout, %q, %o, %l, %p : !rank.buffer<96>, !rank.buffer<288>, !rank.buffer<96>, !rank.buffer<24>, !rank.buffer<12>)
                 outs(%d : !rank.buffer<288>) scratch(%s : !rank.buffer<24>)
                 attributes {structure = #rank.attention<type = f32, batch = 1, q_rows = 3, k_rows = 3, kv_heads = 2, group = 1, head_dim = 4, value_dim = 4, q = <buffer = 1, stride = 24>, k = <buffer = 1, offset = 8, stride = 24>, v = <buffer = 1, offset = 16, stride = 24>, dq = <buffer = 0, stride = 24>, dk = <buffer = 0, offset = 8, stride = 24>, dv = <buffer = 0, offset = 16, stride = 24>>} {
  ^bb0(%a: tensor<1x3x2x1x4xf32>, %b: tensor<1x3x24xf32>, %c: tensor<1x3x2x1x4xf32>, %e: tensor<1x2x1x3xf32>, %f: tensor<3xi32>):
    %q0 = par.slice %b from [0, 0, 0] : tensor<1x3x24xf32> -> tensor<1x3x8xf32>
    %k0 = par.slice %b from [0, 0, 8] : tensor<1x3x24xf32> -> tensor<1x3x8xf32>
    %v0 = par.slice %b from [0, 0, 16] : tensor<1x3x24xf32> -> tensor<1x3x8xf32>
    %q1 = par.reshape %q0 : tensor<1x3x8xf32> -> tensor<1x3x2x1x4xf32>
    %k1 = par.reshape %k0 : tensor<1x3x8xf32> -> tensor<1x3x2x4xf32>
    %v1 = par.reshape %v0 : tensor<1x3x8xf32> -> tensor<1x3x2x4xf32>
    %0, %1, %2 = par.attention_backward %a, %q1, %k1, %v1, %c, %e positions %f, %f {causal, scale = 0.5}
        : (tensor<1x3x2x1x4xf32>, tensor<1x3x2x1x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x1x4xf32>, tensor<1x2x1x3xf32>, tensor<3xi32>, tensor<3xi32>)
        -> (tensor<1x3x2x1x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>)
    %dq = par.reshape %0 : tensor<1x3x2x1x4xf32> -> tensor<1x3x8xf32>
    %dk = par.reshape %1 : tensor<1x3x2x4xf32> -> tensor<1x3x8xf32>
    %dv = par.reshape %2 : tensor<1x3x2x4xf32> -> tensor<1x3x8xf32>
    %all = par.concat %dq, %dk, %dv dim 2 : (tensor<1x3x8xf32>, tensor<1x3x8xf32>, tensor<1x3x8xf32>) -> tensor<1x3x24xf32>
    rank.yield %all : tensor<1x3x24xf32>
  }
  rank.return
}
}
