// RUN: par-opt %s -par-emit-cuda-pipeline=chip=sm_80 | FileCheck %s
// RUN: par-opt %s -par-set-target="target=cuda" | FileCheck %s --check-prefix=TARGET
// RUN: par-opt %s -par-emit-pipeline | FileCheck %s --check-prefix=CPU --implicit-check-not=nvvm
// RUN: not par-opt %s -par-emit-cuda-pipeline=chip=native --mlir-print-op-on-diagnostic=false 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not par-opt %s -par-set-target=target=tpu --mlir-print-op-on-diagnostic=false 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// Text without a plan becomes a program for GPUs: kernels in NVVM, and a host that launches them.
// CHECK: par.plan = #par.plan<{{.*}}target = "cuda", chip = "sm_80"
// CHECK: module @device
// CHECK: llvm.func @kernel_0({{.*}}nvvm.kernel
// CHECK: nvvm.read.ptx.sreg.ctaid.x
// CHECK: llvm.func internal @double.rank(
// CHECK: llvm.call @par_launch(

// TARGET: par.plan = #par.plan<{{.*}}target = "cuda", chip = "sm_90"
// TARGET: rank.kernel

// The module's own target: none is said, so it is the CPU.
// CPU-DAG: llvm.func {{.*}}@kernel_0(
// CPU-DAG: llvm.func internal @double.rank(
// CPU-DAG: llvm.call @par_parallel(

// CHIP: error: par-set-target: chip = native, expected one of sm_90, sm_90a, sm_80
// UNKNOWN: error: par-set-target: target = tpu, expected one of cpu, cuda

rank.func @double(%x: !rank.buffer<8192>, %y: !rank.buffer<8192>) attributes {frame = 0 : i64, results = 1 : i64} {
  rank.kernel ins(%x : !rank.buffer<8192>) outs(%y : !rank.buffer<8192>) {
  ^bb0(%a: tensor<2048xf32>):
    %0 = arith.addf %a, %a : tensor<2048xf32>
    rank.yield %0 : tensor<2048xf32>
  }
  rank.return
}
