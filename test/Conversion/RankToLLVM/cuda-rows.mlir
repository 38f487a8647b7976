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

// Rows for which a block needs several warps: they meet in shared memory, with rows in turns.
// CHECK: block = array<i64: 256, 1, 1>{{.*}} plan = "row"
// CHECK: llvm.mlir.global internal @shared_1() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<16 x f32>
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
// CHECK: block = array<i64: 256, 1, 1>{{.*}} plan = "long-row"
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

// -----

// More rows than groups: the next one's elements are fetched while this one is summed up. A layer norm's backward pass sums up two numbers of a row,
// which warps bring together behind one barrier; the next row's lie elsewhere, so there is no other one. Mean and deviation are loaded first.
// CHECK: plan = "row-column"
// CHECK: llvm.func @kernel_0(
// CHECK-COUNT-2: llvm.load %{{.*}} : !llvm.ptr -> f32
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> i16
// CHECK-COUNT-4: llvm.inline_asm has_side_effects asm_dialect = att "prefetch.global.L2 [$0];", "l" %{{.*}} : (i64) -> ()
// CHECK-NOT: prefetch
// CHECK-COUNT-10: nvvm.shfl.sync
// CHECK-NOT: nvvm.shfl.sync
// CHECK: nvvm.barrier0
// CHECK-COUNT-2: nvvm.shfl.sync
// CHECK-NOT: nvvm.shfl.sync
// CHECK-NOT: nvvm.barrier0
// CHECK: llvm.func @kernel_0_finish(
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
rank.func @norm(%g: !rank.buffer<4194304>, %x: !rank.buffer<4194304>, %w: !rank.buffer<2048>, %m: !rank.buffer<8192>, %s: !rank.buffer<8192>, %dx: !rank.buffer<4194304>, %dw: !rank.buffer<4096>, %db: !rank.buffer<4096>, %a: !rank.buffer<1048576>, %b: !rank.buffer<1048576>) attributes {frame = 0 : i64, results = 3 : i64} {
  rank.kernel ins(%g, %x, %w, %m, %s : !rank.buffer<4194304>, !rank.buffer<4194304>, !rank.buffer<2048>, !rank.buffer<8192>, !rank.buffer<8192>) outs(%dx, %dw, %db : !rank.buffer<4194304>, !rank.buffer<4096>, !rank.buffer<4096>) scratch(%a, %b : !rank.buffer<1048576>, !rank.buffer<1048576>) {
  ^bb0(%0: tensor<2048x1024xbf16>, %1: tensor<2048x1024xbf16>, %2: tensor<1024xbf16>, %3: tensor<2048xf32>, %4: tensor<2048xf32>):
    %5, %6, %7 = par.layer_norm_backward %0, %1, %2, %3, %4 : (tensor<2048x1024xbf16>, tensor<2048x1024xbf16>, tensor<1024xbf16>, tensor<2048xf32>, tensor<2048xf32>) -> (tensor<2048x1024xbf16>, tensor<1024xf32>, tensor<1024xf32>)
    rank.yield %5, %6, %7 : tensor<2048x1024xbf16>, tensor<1024xf32>, tensor<1024xf32>
  }
  rank.return
}
}

// -----

// The loss of logits in bf16: its own results are f32, but what it reads hides what the hardware's exponentials are off by.
// CHECK: plan = "long-row"
// CHECK: llvm.func @kernel_0(
// CHECK-COUNT-9: llvm.nvvm.ex2.approx.ftz.f
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
rank.func @loss(%x: !rank.buffer<524288>, %t: !rank.buffer<32>, %l: !rank.buffer<32>, %s: !rank.buffer<32>) attributes {frame = 0 : i64, results = 2 : i64} {
  rank.kernel ins(%x, %t : !rank.buffer<524288>, !rank.buffer<32>) outs(%l, %s : !rank.buffer<32>, !rank.buffer<32>) {
  ^bb0(%a: tensor<8x32768xbf16>, %b: tensor<8xi32>):
    %0, %1 = par.cross_entropy %a, %b {classes = 32768} : (tensor<8x32768xbf16>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>)
    rank.yield %0, %1 : tensor<8xf32>, tensor<8xf32>
  }
  rank.return
}
}
