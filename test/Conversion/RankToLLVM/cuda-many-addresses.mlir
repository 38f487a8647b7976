// RUN: par-opt %s -rank-to-llvm | FileCheck %s

// A kernel over a list of tensors has an address of each: ptxas is asked for room for four blocks alone, or it would spill registers. Others leave that to it.
// CHECK-DAG: llvm.func @kernel_0({{.*}}nvvm.maxntid = array<i32: 128, 1, 1>, nvvm.minctasm = 4 : i32
// CHECK-DAG: llvm.func @kernel_1({{.*}}nvvm.maxntid = array<i32: 128, 1, 1>}
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
rank.func @list(%x0: !rank.buffer<4096>, %x1: !rank.buffer<4096>, %x2: !rank.buffer<4096>, %x3: !rank.buffer<4096>, %x4: !rank.buffer<4096>, %x5: !rank.buffer<4096>, %x6: !rank.buffer<4096>, %x7: !rank.buffer<4096>, %x8: !rank.buffer<4096>, %x9: !rank.buffer<4096>, %x10: !rank.buffer<4096>, %x11: !rank.buffer<4096>, %x12: !rank.buffer<4096>, %x13: !rank.buffer<4096>, %x14: !rank.buffer<4096>, %x15: !rank.buffer<4096>, %x16: !rank.buffer<4096>, %x17: !rank.buffer<4096>, %x18: !rank.buffer<4096>, %x19: !rank.buffer<4096>) attributes {frame = 0 : i64, results = 1 : i64} {
  rank.kernel ins(%x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7, %x8, %x9 : !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>) outs(%x10, %x11, %x12, %x13, %x14, %x15, %x16, %x17, %x18, %x19 : !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>) {
  ^bb0(%a0: tensor<1024xf32>, %a1: tensor<1024xf32>, %a2: tensor<1024xf32>, %a3: tensor<1024xf32>, %a4: tensor<1024xf32>, %a5: tensor<1024xf32>, %a6: tensor<1024xf32>, %a7: tensor<1024xf32>, %a8: tensor<1024xf32>, %a9: tensor<1024xf32>):
    %0 = arith.addf %a0, %a0 : tensor<1024xf32>
    %1 = arith.addf %a1, %a1 : tensor<1024xf32>
    %2 = arith.addf %a2, %a2 : tensor<1024xf32>
    %3 = arith.addf %a3, %a3 : tensor<1024xf32>
    %4 = arith.addf %a4, %a4 : tensor<1024xf32>
    %5 = arith.addf %a5, %a5 : tensor<1024xf32>
    %6 = arith.addf %a6, %a6 : tensor<1024xf32>
    %7 = arith.addf %a7, %a7 : tensor<1024xf32>
    %8 = arith.addf %a8, %a8 : tensor<1024xf32>
    %9 = arith.addf %a9, %a9 : tensor<1024xf32>
    rank.yield %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>
  }
  rank.kernel ins(%x0 : !rank.buffer<4096>) outs(%x10 : !rank.buffer<4096>) {
  ^bb0(%a: tensor<1024xf32>):
    %0 = arith.addf %a, %a : tensor<1024xf32>
    rank.yield %0 : tensor<1024xf32>
  }
  rank.return
}
}
