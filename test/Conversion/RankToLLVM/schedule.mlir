// RUN: par-opt %s -rank-to-llvm | FileCheck %s --implicit-check-not="rank." --implicit-check-not="par.variable"

par.variable @w : tensor<8xf32> dims ["a"] {role = #par.role<parameter>, init = #par.init<zeros>}

rank.func @forward(%x: !rank.buffer<32>, %r: !rank.buffer<32>) attributes {frame = 64 : i64, results = 1 : i64} {
  rank.copy %x to %r : !rank.buffer<32>, !rank.buffer<32>
  rank.return
}
rank.func @backward(%r: !rank.buffer<32>, %w: !rank.buffer<32>) attributes {frame = 64 : i64, results = 1 : i64} {
  rank.copy %r to %w : !rank.buffer<32>, !rank.buffer<32>
  rank.return
}

// The one function that a program exports. Slots are offsets into the arena, which the context's first member points to. Every action says that it begins,
// what holds nothing is discarded (the frame; a residual before the first action that knows it), and the action's function gets the slots.
// CHECK-LABEL: llvm.func @par_schedule_train(
// CHECK-SAME: %[[CONTEXT:[^:]*]]: !llvm.ptr)
// CHECK-NEXT: %[[MEMBER:.*]] = llvm.getelementptr %[[CONTEXT]][0, 0] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, ptr, ptr)>
// CHECK-NEXT: %[[ARENA:.*]] = llvm.load %[[MEMBER]] : !llvm.ptr -> !llvm.ptr
// CHECK-NEXT: llvm.mlir.constant(0 : i64)
// CHECK-NEXT: %[[TOKENS:.*]] = llvm.getelementptr %[[ARENA]]
// CHECK-NEXT: llvm.mlir.constant(64 : i64)
// CHECK-NEXT: %[[W:.*]] = llvm.getelementptr %[[ARENA]]
// CHECK-NEXT: llvm.mlir.constant(128 : i64)
// CHECK-NEXT: %[[R:.*]] = llvm.getelementptr %[[ARENA]]
// CHECK-NEXT: llvm.mlir.constant(5000000000 : i64)
// CHECK-NEXT: %[[FRAME:.*]] = llvm.getelementptr %[[ARENA]]
// CHECK-NEXT: %[[FIRST:.*]] = llvm.mlir.constant(0 : i32)
// CHECK-NEXT: llvm.call @par_action(%[[CONTEXT]], %[[FIRST]])
// CHECK: llvm.call @par_discard(%[[CONTEXT]], %[[FRAME]],
// CHECK: llvm.call @par_discard(%[[CONTEXT]], %[[R]],
// CHECK: llvm.call @forward.rank(%[[CONTEXT]], %[[FRAME]], %[[TOKENS]], %[[R]])
// CHECK-NEXT: %[[SECOND:.*]] = llvm.mlir.constant(1 : i32)
// CHECK-NEXT: llvm.call @par_action(%[[CONTEXT]], %[[SECOND]])
// CHECK: llvm.call @par_discard(%[[CONTEXT]], %[[FRAME]],
// CHECK-NEXT: llvm.call @backward.rank(%[[CONTEXT]], %[[FRAME]], %[[R]], %[[W]])
// CHECK-NEXT: llvm.return
rank.schedule train attributes {peak_bytes = 5000000064 : i64} {
  %x = rank.slot input "tokens" workspace {tensor = tensor<8xi32>, micro_batch = 0 : i64, offset = 0 : i64} : !rank.buffer<32>
  %w = rank.slot variable "w" parameters {tensor = tensor<8xf32>, offset = 64 : i64} : !rank.buffer<32>
  %r = rank.slot residual "0.0" activations {tensor = tensor<8xf32>, offset = 128 : i64} : !rank.buffer<32>
  %f = rank.slot frame "frame" workspace {offset = 5000000000 : i64} : !rank.buffer<64>
  rank.action forward @forward frame %f : !rank.buffer<64> ins(%x : !rank.buffer<32>) outs(%r : !rank.buffer<32>) {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.action backward @backward frame %f : !rank.buffer<64> ins(%r : !rank.buffer<32>) outs(%w : !rank.buffer<32>) {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.return
}
