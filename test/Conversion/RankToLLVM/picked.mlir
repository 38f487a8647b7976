// RUN: par-opt %s -split-input-file -rank-to-llvm | FileCheck %s

// The logit of a target is one load, not a sum over all classes: of the loops inside the one over rows one finds the
// maximum and one adds the powers.
// CHECK: llvm.func internal @kernel_0(
// CHECK: %[[TARGET:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i32
// CHECK: llvm.intr.maximum
// CHECK: llvm.intr.floor
// CHECK: %[[I:.*]] = llvm.sext %[[TARGET]] : i32 to i64
// CHECK: %[[INSIDE:.*]] = llvm.icmp "ult" %[[I]], %[[CLASSES:.*]] : i64
// CHECK: %[[CLASS:.*]] = llvm.select %[[INSIDE]], %[[I]], %{{.*}} : i1, i64
// CHECK-NOT: llvm.cond_br
// CHECK: %[[LOGIT:.*]] = llvm.load %{{.*}} : !llvm.ptr -> f32
// CHECK: llvm.select %{{.*}}, %[[LOGIT]], %{{.*}} : i1, f32
// CHECK-NOT: llvm.cond_br
// CHECK: llvm.return
rank.func @loss(%x: !rank.buffer<640>, %t: !rank.buffer<32>, %l: !rank.buffer<32>, %s: !rank.buffer<32>) attributes {frame = 0 : i64, results = 2 : i64} {
  rank.kernel ins(%x, %t : !rank.buffer<640>, !rank.buffer<32>) outs(%l, %s : !rank.buffer<32>, !rank.buffer<32>) {
  ^bb0(%a: tensor<8x20xf32>, %b: tensor<8xi32>):
    %0, %1 = par.cross_entropy %a, %b {classes = 20} : (tensor<8x20xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>)
    rank.yield %0, %1 : tensor<8xf32>, tensor<8xf32>
  }
  rank.return
}

// -----

// Of a rank's share of the classes the offset is subtracted; only classes that exist are picked.
// CHECK: llvm.func internal @kernel_0(
// CHECK: %[[LOCAL:.*]] = llvm.sub %{{.*}}, %{{.*}} : i32
// CHECK: %[[I:.*]] = llvm.sext %[[LOCAL]] : i32 to i64
// CHECK: llvm.icmp "ult" %[[I]]
// CHECK-NOT: llvm.cond_br
// CHECK: llvm.and
// CHECK-NOT: llvm.cond_br
// CHECK: llvm.return
rank.func @share(%x: !rank.buffer<640>, %t: !rank.buffer<32>, %o: !rank.buffer<4>, %l: !rank.buffer<32>, %s: !rank.buffer<32>) attributes {frame = 0 : i64, results = 2 : i64} {
  rank.kernel ins(%x, %t, %o : !rank.buffer<640>, !rank.buffer<32>, !rank.buffer<4>) outs(%l, %s : !rank.buffer<32>, !rank.buffer<32>) {
  ^bb0(%a: tensor<8x20xf32>, %b: tensor<8xi32>, %c: tensor<i32>):
    %0, %1 = par.cross_entropy_shard %a, %b offset %c {classes = 38} : (tensor<8x20xf32>, tensor<8xi32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xf32>)
    rank.yield %0, %1 : tensor<8xf32>, tensor<8xf32>
  }
  rank.return
}

// -----

// A sum whose terms are chosen by their values is a sum.
// CHECK: llvm.func internal @kernel_0(
// CHECK: llvm.icmp "eq"
// CHECK: llvm.select
// CHECK: llvm.fadd
rank.func @counted(%x: !rank.buffer<640>, %i: !rank.buffer<640>, %y: !rank.buffer<32>) attributes {frame = 0 : i64, results = 1 : i64} {
  rank.kernel ins(%x, %i : !rank.buffer<640>, !rank.buffer<640>) outs(%y : !rank.buffer<32>) {
  ^bb0(%a: tensor<8x20xf32>, %b: tensor<8x20xi32>):
    %zero = arith.constant dense<0.0> : tensor<8x20xf32>
    %numbers = par.iota dim 1 : tensor<8x20xi32>
    %same = arith.cmpi eq, %numbers, %b : tensor<8x20xi32>
    %0 = arith.select %same, %a, %zero : tensor<8x20xi1>, tensor<8x20xf32>
    %1 = par.reduce sum %0 dims [1] : tensor<8x20xf32> -> tensor<8xf32>
    rank.yield %1 : tensor<8xf32>
  }
  rank.return
}
