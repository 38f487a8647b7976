// RUN: par-opt %s -split-input-file -rank-to-llvm | FileCheck %s

// Parts of 12 bytes of a buffer begin anywhere: no kernel of the program has accesses of 16 bytes.
// CHECK: plan = "generic", reason = "buffers that begin anywhere"
// CHECK-NOT: llvm.align
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
rank.func @part(%x: !rank.buffer<12>, %y: !rank.buffer<4096>) attributes {frame = 0 : i64, results = 1 : i64} {
  rank.kernel ins(%y : !rank.buffer<4096>) outs(%y : !rank.buffer<4096>) {
  ^bb0(%a: tensor<1024xf32>):
    %0 = arith.negf %a : tensor<1024xf32>
    rank.yield %0 : tensor<1024xf32>
  }
  rank.return
}
rank.func @whole(%x: !rank.buffer<36>, %y: !rank.buffer<4096>) attributes {frame = 0 : i64, results = 1 : i64} {
  %f = rank.alloc workspace {offset = 0 : i64} : !rank.buffer<0>
  rank.call @part frame %f : !rank.buffer<0> ins(%x : !rank.buffer<36>) outs(%y : !rank.buffer<4096>) {parts = 3 : i64}
  rank.return
}
}

// -----

// Rows are added to those of a table that may lie where the result does: most of it stays as it is. One launch writes
// what is not there yet, one adds; the warps of that ask each other which ids are the same.
// CHECK: buffers = [{access = "read", bytes = 2048 : i64, space = "device"}, {access = "update", bytes = 2048 : i64, space = "device"}]
// CHECK-SAME: name = "kernel_0", plan = "fill"
// CHECK-SAME: buffers = [{access = "read", bytes = 16 : i64, space = "device"}, {access = "read", bytes = 128 : i64, space = "device"}, {access = "update", bytes = 2048 : i64, space = "device"}]
// CHECK-SAME: name = "kernel_0_scatter", plan = "scatter"
// Rows that are no whole number of a warp's accesses take registers: ptxas is asked for no more than seven blocks.
// CHECK: llvm.func @kernel_0_scatter(
// CHECK-SAME: nvvm.maxntid = array<i32: 128, 1, 1>, nvvm.minctasm = 7 : i32
// CHECK-COUNT-2: nvvm.vote.ballot.sync
// CHECK-NOT: atomic
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
rank.func @scatter(%t: !rank.buffer<2048>, %i: !rank.buffer<16>, %d: !rank.buffer<128>, %y: !rank.buffer<2048>) attributes {frame = 0 : i64, results = 1 : i64} {
  rank.kernel ins(%t, %i, %d : !rank.buffer<2048>, !rank.buffer<16>, !rank.buffer<128>) outs(%y : !rank.buffer<2048>) {
  ^bb0(%table: tensor<64x8xf32>, %ids: tensor<4xi32>, %dy: tensor<4x8xf32>):
    %0 = par.embedding_backward %ids, %dy : (tensor<4xi32>, tensor<4x8xf32>) -> tensor<64x8xf32>
    %1 = arith.addf %table, %0 : tensor<64x8xf32>
    rank.yield %1 : tensor<64x8xf32>
  }
  rank.return
}
}
