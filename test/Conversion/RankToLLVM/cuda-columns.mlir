// RUN: par-opt %s -split-input-file -rank-to-llvm | FileCheck %s

// Sums over rows are two launches: slices write to scratch, and what is behind them adds those up. The gradient that
// the sums go on from is read by the second one alone.
// CHECK: buffers = [{access = "read", bytes = 67108864 : i64, space = "device"}, {access = "write", bytes = 131072 : i64, space = "device"}]
// CHECK-SAME: grid = array<i64: 256, 1, 1>, name = "kernel_0", plan = "column"
// CHECK-SAME: buffers = [{access = "read", bytes = 512 : i64, space = "device"}, {access = "write", bytes = 512 : i64, space = "device"}, {access = "read", bytes = 131072 : i64, space = "device"}]
// CHECK-SAME: name = "kernel_0_finish", plan = "finish"
// CHECK: llvm.func @kernel_0(
// CHECK: nvvm.barrier0
// CHECK: llvm.func @kernel_0_finish(
// CHECK: llvm.call @par_launch(
// CHECK: llvm.call @par_launch(
// CHECK-NOT: llvm.call @par_launch(
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
rank.func @bias(%x: !rank.buffer<67108864>, %g: !rank.buffer<512>, %y: !rank.buffer<512>) attributes {frame = 131072 : i64, results = 1 : i64} {
  %s = rank.alloc workspace {offset = 0 : i64} : !rank.buffer<131072>
  rank.kernel ins(%x, %g : !rank.buffer<67108864>, !rank.buffer<512>) outs(%y : !rank.buffer<512>) scratch(%s : !rank.buffer<131072>) {
  ^bb0(%a: tensor<131072x128xf32>, %b: tensor<128xf32>):
    %0 = par.reduce sum %a dims [0] : tensor<131072x128xf32> -> tensor<128xf32>
    %1 = arith.addf %b, %0 : tensor<128xf32>
    rank.yield %1 : tensor<128xf32>
  }
  rank.return
}
}

// -----

// Sums of few rows need no second launch.
// CHECK: name = "kernel_0", plan = "column"
// CHECK-NOT: finish
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
rank.func @bias(%x: !rank.buffer<8192>, %y: !rank.buffer<512>) attributes {frame = 0 : i64, results = 1 : i64} {
  rank.kernel ins(%x : !rank.buffer<8192>) outs(%y : !rank.buffer<512>) {
  ^bb0(%a: tensor<16x128xf32>):
    %0 = par.reduce sum %a dims [0] : tensor<16x128xf32> -> tensor<128xf32>
    rank.yield %0 : tensor<128xf32>
  }
  rank.return
}
}

// -----

// A sum of everything, too: a block for each slice, then one for the slices.
// CHECK: plan = "total"
// CHECK: name = "kernel_0_finish", plan = "finish"
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
rank.func @norm(%x: !rank.buffer<4194304>, %y: !rank.buffer<4>) attributes {frame = 1024 : i64, results = 1 : i64} {
  %s = rank.alloc workspace {offset = 0 : i64} : !rank.buffer<512>
  rank.kernel ins(%x : !rank.buffer<4194304>) outs(%y : !rank.buffer<4>) scratch(%s : !rank.buffer<512>) {
  ^bb0(%a: tensor<1024x1024xf32>):
    %0 = par.einsum "ab,ab->"(%a, %a) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<f32>
    rank.yield %0 : tensor<f32>
  }
  rank.return
}
}
