// RUN: par-opt %s -rank-to-llvm | FileCheck %s

// A kernel that updates a list of tensors has an address of each: ptxas is asked for room for 512 threads alone, or it would
// spill registers. Others leave that to it, sums over a list among them.
// CHECK-DAG: llvm.func @kernel_0({{.*}}nvvm.maxntid = array<i32: 128, 1, 1>, nvvm.minctasm = 4 : i32
// CHECK-DAG: llvm.func @kernel_1({{.*}}nvvm.maxntid = array<i32: 128, 1, 1>}
// CHECK-DAG: llvm.func @kernel_2({{.*}}nvvm.maxntid = array<i32: 512, 1, 1>}
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
rank.func @norm(%x0: !rank.buffer<4096>, %x1: !rank.buffer<4096>, %x2: !rank.buffer<4096>, %x3: !rank.buffer<4096>, %x4: !rank.buffer<4096>, %x5: !rank.buffer<4096>, %x6: !rank.buffer<4096>, %x7: !rank.buffer<4096>, %x8: !rank.buffer<4096>, %x9: !rank.buffer<4096>, %x10: !rank.buffer<4096>, %x11: !rank.buffer<4096>, %x12: !rank.buffer<4096>, %x13: !rank.buffer<4096>, %x14: !rank.buffer<4096>, %x15: !rank.buffer<4096>, %x16: !rank.buffer<4096>, %x17: !rank.buffer<4096>, %x18: !rank.buffer<4096>, %x19: !rank.buffer<4096>, %out: !rank.buffer<4>) attributes {frame = 1024 : i64, results = 1 : i64} {
  %scratch = rank.alloc workspace {offset = 0 : i64} : !rank.buffer<1024>
  rank.kernel ins(%x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7, %x8, %x9, %x10, %x11, %x12, %x13, %x14, %x15, %x16, %x17, %x18, %x19 : !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>) outs(%out : !rank.buffer<4>) scratch(%scratch : !rank.buffer<1024>) {
  ^bb0(%a0: tensor<32x32xf32>, %a1: tensor<32x32xf32>, %a2: tensor<32x32xf32>, %a3: tensor<32x32xf32>, %a4: tensor<32x32xf32>, %a5: tensor<32x32xf32>, %a6: tensor<32x32xf32>, %a7: tensor<32x32xf32>, %a8: tensor<32x32xf32>, %a9: tensor<32x32xf32>, %a10: tensor<32x32xf32>, %a11: tensor<32x32xf32>, %a12: tensor<32x32xf32>, %a13: tensor<32x32xf32>, %a14: tensor<32x32xf32>, %a15: tensor<32x32xf32>, %a16: tensor<32x32xf32>, %a17: tensor<32x32xf32>, %a18: tensor<32x32xf32>, %a19: tensor<32x32xf32>):
    %p0 = par.einsum "xy,xy->"(%a0, %a0) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<f32>
    %p1 = par.einsum "xy,xy->"(%a1, %a1) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<f32>
    %s1 = arith.addf %p0, %p1 : tensor<f32>
    %p2 = par.einsum "xy,xy->"(%a2, %a2) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<f32>
    %s2 = arith.addf %s1, %p2 : tensor<f32>
    %p3 = par.einsum "xy,xy->"(%a3, %a3) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<f32>
    %s3 = arith.addf %s2, %p3 : tensor<f32>
    %p4 = par.einsum "xy,xy->"(%a4, %a4) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<f32>
    %s4 = arith.addf %s3, %p4 : tensor<f32>
    %p5 = par.einsum "xy,xy->"(%a5, %a5) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<f32>
    %s5 = arith.addf %s4, %p5 : tensor<f32>
    %p6 = par.einsum "xy,xy->"(%a6, %a6) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<f32>
    %s6 = arith.addf %s5, %p6 : tensor<f32>
    %p7 = par.einsum "xy,xy->"(%a7, %a7) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<f32>
    %s7 = arith.addf %s6, %p7 : tensor<f32>
    %p8 = par.einsum "xy,xy->"(%a8, %a8) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<f32>
    %s8 = arith.addf %s7, %p8 : tensor<f32>
    %p9 = par.einsum "xy,xy->"(%a9, %a9) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<f32>
    %s9 = arith.addf %s8, %p9 : tensor<f32>
    %p10 = par.einsum "xy,xy->"(%a10, %a10) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<f32>
    %s10 = arith.addf %s9, %p10 : tensor<f32>
    %p11 = par.einsum "xy,xy->"(%a11, %a11) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<f32>
    %s11 = arith.addf %s10, %p11 : tensor<f32>
    %p12 = par.einsum "xy,xy->"(%a12, %a12) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<f32>
    %s12 = arith.addf %s11, %p12 : tensor<f32>
    %p13 = par.einsum "xy,xy->"(%a13, %a13) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<f32>
    %s13 = arith.addf %s12, %p13 : tensor<f32>
    %p14 = par.einsum "xy,xy->"(%a14, %a14) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<f32>
    %s14 = arith.addf %s13, %p14 : tensor<f32>
    %p15 = par.einsum "xy,xy->"(%a15, %a15) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<f32>
    %s15 = arith.addf %s14, %p15 : tensor<f32>
    %p16 = par.einsum "xy,xy->"(%a16, %a16) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<f32>
    %s16 = arith.addf %s15, %p16 : tensor<f32>
    %p17 = par.einsum "xy,xy->"(%a17, %a17) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<f32>
    %s17 = arith.addf %s16, %p17 : tensor<f32>
    %p18 = par.einsum "xy,xy->"(%a18, %a18) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<f32>
    %s18 = arith.addf %s17, %p18 : tensor<f32>
    %p19 = par.einsum "xy,xy->"(%a19, %a19) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<f32>
    %s19 = arith.addf %s18, %p19 : tensor<f32>
    rank.yield %s19 : tensor<f32>
  }
  rank.return
}
}
