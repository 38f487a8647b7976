// RUN: par-opt %s -rank-to-llvm | FileCheck %s

par.mesh @mesh <["dp"=2, "tp"=4]>

// The number of the manifest's entry, and an array: sources in the order of the collective's operands (not of `ins`), then destinations.
// CHECK-LABEL: llvm.func internal @reduce.rank(
// CHECK-SAME: %[[CONTEXT:[^:]*]]: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %[[X:[^:]*]]: !llvm.ptr, %[[Y:[^:]*]]: !llvm.ptr, %[[P:[^:]*]]: !llvm.ptr, %[[Q:[^:]*]]: !llvm.ptr)
// CHECK: %[[NUMBER:.*]] = llvm.mlir.constant(7 : i32)
// CHECK: %[[SIZE:.*]] = llvm.mlir.constant(4 : i64)
// CHECK: %[[BUFFERS:.*]] = llvm.alloca %[[SIZE]] x !llvm.ptr
// CHECK: llvm.getelementptr %[[BUFFERS]][0]
// CHECK-NEXT: llvm.store %[[X]],
// CHECK-NEXT: llvm.getelementptr %[[BUFFERS]][1]
// CHECK-NEXT: llvm.store %[[Y]],
// CHECK-NEXT: llvm.getelementptr %[[BUFFERS]][2]
// CHECK-NEXT: llvm.store %[[P]],
// CHECK-NEXT: llvm.getelementptr %[[BUFFERS]][3]
// CHECK-NEXT: llvm.store %[[Q]],
// CHECK-NEXT: llvm.call @par_collective(%[[CONTEXT]], %[[NUMBER]], %[[BUFFERS]])
rank.func @reduce(%x: !rank.buffer<32>, %y: !rank.buffer<16>, %p: !rank.buffer<32>, %q: !rank.buffer<16>) attributes {frame = 0 : i64, results = 2 : i64} {
  rank.collective ins(%y, %x : !rank.buffer<16>, !rank.buffer<32>) outs(%p, %q : !rank.buffer<32>, !rank.buffer<16>) attributes {number = 7 : i64} {
  ^bb0(%b: tensor<4xf32>, %a: tensor<8xf32>):
    %0, %1 = par.all_reduce sum over ["tp"] %a, %b : (tensor<8xf32>, tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>)
    rank.yield %0, %1 : tensor<8xf32>, tensor<4xf32>
  }
  rank.return
}

// In place: one buffer is source and destination.
// CHECK-LABEL: llvm.func internal @in_place.rank(
// CHECK-SAME: %[[CONTEXT:[^:]*]]: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %[[X:[^:]*]]: !llvm.ptr)
// CHECK: llvm.mlir.constant(0 : i32)
// CHECK-COUNT-2: llvm.store %[[X]],
// CHECK: llvm.call @par_collective(%[[CONTEXT]]
rank.func @in_place(%x: !rank.buffer<32>) attributes {frame = 0 : i64, results = 1 : i64} {
  rank.collective ins(%x : !rank.buffer<32>) outs(%x : !rank.buffer<32>) attributes {number = 0 : i64} {
  ^bb0(%a: tensor<8xf32>):
    %0 = par.all_reduce sum over ["dp"] %a : (tensor<8xf32>) -> tensor<8xf32>
    rank.yield %0 : tensor<8xf32>
  }
  rank.return
}

// Started: the wait names the collective; both ends count as its work.
// CHECK-LABEL: llvm.func internal @started.rank(
// CHECK-SAME: %[[CONTEXT:[^:]*]]: !llvm.ptr
// CHECK: %[[WORK:.*]] = llvm.mlir.constant(2 : i32)
// CHECK: llvm.call @par_work(%[[CONTEXT]], %[[WORK]])
// CHECK: %[[NUMBER:.*]] = llvm.mlir.constant(5 : i32)
// CHECK: llvm.call @par_collective_start(%[[CONTEXT]], %[[NUMBER]], %{{.*}})
// CHECK: llvm.call @par_copy(
// CHECK: %[[WORK:.*]] = llvm.mlir.constant(2 : i32)
// CHECK: llvm.call @par_work(%[[CONTEXT]], %[[WORK]])
// CHECK: %[[NUMBER:.*]] = llvm.mlir.constant(5 : i32)
// CHECK: llvm.call @par_collective_wait(%[[CONTEXT]], %[[NUMBER]])
rank.func @started(%x: !rank.buffer<32>, %y: !rank.buffer<32>, %z: !rank.buffer<32>) attributes {frame = 0 : i64, results = 2 : i64} {
  %e = rank.start ins(%x : !rank.buffer<32>) outs(%y : !rank.buffer<32>) attributes {number = 5 : i64, work = 2 : i64} {
  ^bb0(%a: tensor<8xf32>):
    %0 = par.all_reduce sum over ["dp"] %a : (tensor<8xf32>) -> tensor<8xf32>
    rank.yield %0 : tensor<8xf32>
  }
  rank.copy %x to %z : !rank.buffer<32>, !rank.buffer<32>
  rank.wait %e
  rank.return
}
