// RUN: par-opt %s -rank-to-llvm | FileCheck %s --implicit-check-not="rank." --implicit-check-not="kernel_2("

// A kernel becomes a function of context, part, parts, inputs and outputs; one per distinct body, however often it is used.
// CHECK: llvm.func internal @kernel_0(%{{.*}}: !llvm.ptr, %[[PART:.*]]: i64, %[[PARTS:.*]]: i64, %[[IN:.*]]: !llvm.ptr, %[[OUT:.*]]: !llvm.ptr)
// CHECK: llvm.udiv %{{.*}}, %[[PARTS]]
// CHECK: %[[FROM:.*]] = llvm.getelementptr %[[IN]][%[[I:.*]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT: %[[X:.*]] = llvm.load %[[FROM]] : !llvm.ptr -> f32
// CHECK-NEXT: %[[Y:.*]] = llvm.fadd %[[X]], %[[X]]
// CHECK-NEXT: %[[TO:.*]] = llvm.getelementptr %[[OUT]][%[[I]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT: llvm.store %[[Y]], %[[TO]] : f32, !llvm.ptr
// CHECK: llvm.func internal @kernel_1(
// CHECK: llvm.intr.fabs
// CHECK: llvm.fsub

// What the runtime's threads call: the buffers come from an array.
// CHECK: llvm.func internal @kernel_0.part(%[[CONTEXT:.*]]: !llvm.ptr, %[[BUFFERS:.*]]: !llvm.ptr, %[[PART:.*]]: i64, %[[PARTS:.*]]: i64)
// CHECK: llvm.getelementptr %[[BUFFERS]][0]
// CHECK-NEXT: %[[IN:.*]] = llvm.load
// CHECK: llvm.getelementptr %[[BUFFERS]][1]
// CHECK-NEXT: %[[OUT:.*]] = llvm.load
// CHECK-NEXT: llvm.call @kernel_0(%[[CONTEXT]], %[[PART]], %[[PARTS]], %[[IN]], %[[OUT]])
// CHECK: llvm.func internal @kernel_1.part(

// Inputs then outputs, and how many elements there are to divide among threads.
// CHECK-LABEL: llvm.func internal @twice.rank(
// CHECK-SAME: %[[CONTEXT:[^:]*]]: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %[[A:[^:]*]]: !llvm.ptr, %[[B:[^:]*]]: !llvm.ptr, %[[C:[^:]*]]: !llvm.ptr, %[[D:[^:]*]]: !llvm.ptr)
// CHECK: %[[KERNEL:.*]] = llvm.mlir.addressof @kernel_0.part
// CHECK: llvm.store %[[A]],
// CHECK: llvm.store %[[B]],
// CHECK: %[[ELEMENTS:.*]] = llvm.mlir.constant(8 : i64)
// CHECK-NEXT: llvm.call @par_parallel(%[[CONTEXT]], %[[KERNEL]], %{{.*}}, %[[ELEMENTS]])
// CHECK: llvm.mlir.addressof @kernel_0.part
// CHECK: llvm.store %[[B]],
// CHECK: llvm.store %[[C]],
// CHECK: llvm.call @par_parallel
// CHECK: llvm.mlir.addressof @kernel_1.part
// CHECK: llvm.store %[[C]],
// CHECK: llvm.store %[[A]],
// CHECK: llvm.store %[[D]],
// CHECK: llvm.call @par_parallel
// CHECK-NEXT: llvm.return
rank.func @twice(%x: !rank.buffer<32>, %y: !rank.buffer<32>, %z: !rank.buffer<32>, %w: !rank.buffer<32>) attributes {frame = 0 : i64, results = 3 : i64} {
  rank.kernel ins(%x : !rank.buffer<32>) outs(%y : !rank.buffer<32>) {
  ^bb0(%a: tensor<8xf32>):
    %0 = arith.addf %a, %a : tensor<8xf32>
    rank.yield %0 : tensor<8xf32>
  }
  rank.kernel ins(%y : !rank.buffer<32>) outs(%z : !rank.buffer<32>) {
  ^bb0(%a: tensor<8xf32>):
    %0 = arith.addf %a, %a : tensor<8xf32>
    rank.yield %0 : tensor<8xf32>
  }
  rank.kernel ins(%z, %x : !rank.buffer<32>, !rank.buffer<32>) outs(%w : !rank.buffer<32>) {
  ^bb0(%a: tensor<8xf32>, %b: tensor<8xf32>):
    %0 = math.absf %a : tensor<8xf32>
    %1 = arith.subf %0, %b : tensor<8xf32>
    rank.yield %1 : tensor<8xf32>
  }
  rank.return
}
