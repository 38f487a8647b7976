// RUN: par-opt %s -split-input-file -rank-to-llvm | FileCheck %s

// A table that is gathered along its rows: a thread has eight rows of eight elements, a warp 32 by 64.
// CHECK: grid = array<i64: 500, 1, 1>, name = "kernel_0", plan = "tile"
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
rank.func @table(%x: !rank.buffer<8192000>, %y: !rank.buffer<8192000>) attributes {frame = 0 : i64, results = 1 : i64} {
  rank.kernel ins(%x : !rank.buffer<8192000>) outs(%y : !rank.buffer<8192000>) {
  ^bb0(%a: tensor<3200x1280xbf16>):
    %0 = par.transpose %a [1, 0] : tensor<3200x1280xbf16> -> tensor<1280x3200xbf16>
    rank.yield %0 : tensor<1280x3200xbf16>
  }
  rank.return
}
}

// -----

// Rows that stay as they are need no squares.
// CHECK: name = "kernel_0", plan = "gather"
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
rank.func @heads(%x: !rank.buffer<65536>, %y: !rank.buffer<65536>) attributes {frame = 0 : i64, results = 1 : i64} {
  rank.kernel ins(%x : !rank.buffer<65536>) outs(%y : !rank.buffer<65536>) {
  ^bb0(%a: tensor<16x32x32xf32>):
    %0 = par.transpose %a [1, 0, 2] : tensor<16x32x32xf32> -> tensor<32x16x32xf32>
    rank.yield %0 : tensor<32x16x32xf32>
  }
  rank.return
}
}

// -----

// Rows that are no whole accesses.
// CHECK: name = "kernel_0", plan = "generic", reason = "rows are no whole accesses"
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
rank.func @odd(%x: !rank.buffer<65792>, %y: !rank.buffer<65792>) attributes {frame = 0 : i64, results = 1 : i64} {
  rank.kernel ins(%x : !rank.buffer<65792>) outs(%y : !rank.buffer<65792>) {
  ^bb0(%a: tensor<64x257xf32>):
    %0 = par.transpose %a [1, 0] : tensor<64x257xf32> -> tensor<257x64xf32>
    rank.yield %0 : tensor<257x64xf32>
  }
  rank.return
}
}
