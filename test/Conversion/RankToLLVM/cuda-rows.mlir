// RUN: par-opt %s -split-input-file -rank-to-llvm | FileCheck %s

// A warp has a row: what it reads of it is there before its lanes combine what they have, and memory is passed once.
// CHECK: grid = array<i64: 2, 1, 1>, name = "kernel_0", plan = "row"
// CHECK: llvm.func @kernel_0(
// CHECK-COUNT-8: llvm.load
// CHECK-NOT: llvm.load
// CHECK: nvvm.shfl.sync bfly
// CHECK-NOT: llvm.load
// CHECK-COUNT-8: llvm.store
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
rank.func @softmax(%x: !rank.buffer<4096>, %y: !rank.buffer<4096>) attributes {frame = 0 : i64, results = 1 : i64} {
  rank.kernel ins(%x : !rank.buffer<4096>) outs(%y : !rank.buffer<4096>) {
  ^bb0(%a: tensor<8x256xbf16>):
    %0 = par.softmax %a : tensor<8x256xbf16>
    rank.yield %0 : tensor<8x256xbf16>
  }
  rank.return
}
}

// -----

// Rows for which a block needs several warps: they meet in shared memory.
// CHECK: block = array<i64: 256, 1, 1>{{.*}} plan = "row"
// CHECK: llvm.mlir.global internal @shared_1() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<8 x f32>
// CHECK: llvm.func @kernel_0(
// CHECK: nvvm.barrier0
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
rank.func @softmax(%x: !rank.buffer<65536>, %y: !rank.buffer<65536>) attributes {frame = 0 : i64, results = 1 : i64} {
  rank.kernel ins(%x : !rank.buffer<65536>) outs(%y : !rank.buffer<65536>) {
  ^bb0(%a: tensor<4x4096xf32>):
    %0 = par.softmax %a : tensor<4x4096xf32>
    rank.yield %0 : tensor<4x4096xf32>
  }
  rank.return
}
}

// -----

// Rows that are longer are walked, once for the maximum and the sum of powers.
// CHECK: block = array<i64: 512, 1, 1>{{.*}} plan = "long-row"
// CHECK: llvm.func @kernel_0(
// CHECK-COUNT-4: llvm.load
// CHECK: nvvm.shfl.sync
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
rank.func @loss(%x: !rank.buffer<1056000>, %t: !rank.buffer<32>, %l: !rank.buffer<32>, %s: !rank.buffer<32>) attributes {frame = 0 : i64, results = 2 : i64} {
  rank.kernel ins(%x, %t : !rank.buffer<1056000>, !rank.buffer<32>) outs(%l, %s : !rank.buffer<32>, !rank.buffer<32>) {
  ^bb0(%a: tensor<8x33000xf32>, %b: tensor<8xi32>):
    %0, %1 = par.cross_entropy %a, %b {classes = 33000} : (tensor<8x33000xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>)
    rank.yield %0, %1 : tensor<8xf32>, tensor<8xf32>
  }
  rank.return
}
}
