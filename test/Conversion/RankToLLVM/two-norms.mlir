// RUN: par-opt %s -rank-to-llvm | FileCheck %s

// A norm behind a branch, the sum of both, and the norm of that sum: each row of the sum is written first, as the second
// norm goes through it twice. What the first norm's row is scaled by is computed once per row, not once per element.
// CHECK-LABEL: llvm.func internal @kernel_0(
// CHECK-COUNT-2: llvm.intr.sqrt
// CHECK-NOT: llvm.intr.sqrt
module {
rank.func @sandwich(%x: !rank.buffer<6144>, %w: !rank.buffer<1536>, %r: !rank.buffer<6144>, %v: !rank.buffer<1536>, %s: !rank.buffer<16>, %sum: !rank.buffer<6144>, %y: !rank.buffer<6144>, %t: !rank.buffer<16>) attributes {frame = 0 : i64, results = 4 : i64} {
  rank.kernel ins(%x, %w, %r, %v : !rank.buffer<6144>, !rank.buffer<1536>, !rank.buffer<6144>, !rank.buffer<1536>) outs(%s, %sum, %y, %t : !rank.buffer<16>, !rank.buffer<6144>, !rank.buffer<6144>, !rank.buffer<16>) {
  ^bb0(%a: tensor<4x384xf32>, %b: tensor<384xf32>, %c: tensor<4x384xf32>, %d: tensor<384xf32>):
    %n, %ns = par.rms_norm %a, %b {eps = 1.0e-5 : f64} : (tensor<4x384xf32>, tensor<384xf32>) -> (tensor<4x384xf32>, tensor<4xf32>)
    %0 = arith.addf %c, %n : tensor<4x384xf32>
    %m, %ms = par.rms_norm %0, %d {eps = 1.0e-5 : f64} : (tensor<4x384xf32>, tensor<384xf32>) -> (tensor<4x384xf32>, tensor<4xf32>)
    rank.yield %ns, %0, %m, %ms : tensor<4xf32>, tensor<4x384xf32>, tensor<4x384xf32>, tensor<4xf32>
  }
  rank.return
}
}
