// RUN: par-opt %s -rank-to-llvm | FileCheck %s

// A row of 16,384 elements has 512 threads, which ask for all 128 registers that there are for each. A thread's steps are
// 2,048 elements apart: all have one address, from which each has its constant distance. Sums over rows lie in shared memory.
// CHECK: block = array<i64: 512, 1, 1>{{.*}} plan = "row-column", {{.*}}shared_bytes = 65536
// CHECK: llvm.func @kernel_0({{.*}}nvvm.maxntid = array<i32: 512, 1, 1>, nvvm.minctasm = 1 : i32
// CHECK-DAG: %[[FAR:.+]] = llvm.mlir.constant(2048 : index) : i64
// CHECK-DAG: %[[WIDTH:.+]] = llvm.mlir.constant(4 : index) : i64
// CHECK: %[[FIRST:.+]] = llvm.mul %{{.+}}, %[[WIDTH]] : i64
// CHECK: llvm.add %[[FIRST]], %[[FAR]] : i64
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
rank.func @norm(%g: !rank.buffer<1048576>, %x: !rank.buffer<1048576>, %w: !rank.buffer<65536>, %s: !rank.buffer<64>, %dx: !rank.buffer<1048576>, %dw: !rank.buffer<65536>, %room: !rank.buffer<1048576>) attributes {frame = 0 : i64, results = 2 : i64} {
  rank.kernel ins(%g, %x, %w, %s : !rank.buffer<1048576>, !rank.buffer<1048576>, !rank.buffer<65536>, !rank.buffer<64>) outs(%dx, %dw : !rank.buffer<1048576>, !rank.buffer<65536>) scratch(%room : !rank.buffer<1048576>) {
  ^bb0(%a: tensor<16x16384xf32>, %b: tensor<16x16384xf32>, %c: tensor<16384xf32>, %d: tensor<16xf32>):
    %0, %1 = par.rms_norm_backward %a, %b, %c, %d : (tensor<16x16384xf32>, tensor<16x16384xf32>, tensor<16384xf32>, tensor<16xf32>) -> (tensor<16x16384xf32>, tensor<16384xf32>)
    rank.yield %0, %1 : tensor<16x16384xf32>, tensor<16384xf32>
  }
  rank.return
}
}
