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

// The one function that a program exports has the runtime walk a table of par_step records (action, entry). Equal steps share a par_entry (Records.def):
// kind, number, function, row, operands, discard, discards. A row is a patch of another one: both forwards share tokens, frame and residual; the second says
// what differs, its operand 1. What holds nothing is discarded: the frame (operand 0), and a residual (operand 2) before the first entry that knows it.
// CHECK-LABEL: llvm.func @par_schedule_train(
// CHECK-SAME: %[[CONTEXT:[^:]*]]: !llvm.ptr)
// CHECK: %[[FUNCTIONS:.*]] = llvm.alloca
// CHECK: %[[OPERANDS:.*]] = llvm.alloca
// CHECK: llvm.mlir.addressof @forward.entry
// CHECK: llvm.mlir.addressof @backward.entry
// CHECK: %[[STEPS:.*]] = llvm.mlir.addressof @par_schedule_train.steps
// CHECK: %[[ENTRIES:.*]] = llvm.mlir.addressof @par_schedule_train.entries
// CHECK: %[[WORDS:.*]] = llvm.mlir.addressof @par_schedule_train.words
// CHECK: %[[COUNT:.*]] = llvm.mlir.constant(3 : i64)
// CHECK: %[[ACTION:.*]] = llvm.mlir.constant(0 : i64)
// CHECK: llvm.call @par_run(%[[CONTEXT]], %[[STEPS]], %[[COUNT]], %[[ACTION]], %[[ENTRIES]], %[[WORDS]], %[[FUNCTIONS]], %[[OPERANDS]])
// CHECK-NEXT: llvm.return
// CHECK: llvm.func internal @forward.entry(%[[CONTEXT:.*]]: !llvm.ptr, %[[OPERANDS:.*]]: !llvm.ptr)
// CHECK: %[[FRAME:.*]] = llvm.load
// CHECK: %[[TOKENS:.*]] = llvm.load
// CHECK: %[[RESIDUAL:.*]] = llvm.load
// CHECK: llvm.call @forward.rank(%[[CONTEXT]], %[[FRAME]], %[[TOKENS]], %[[RESIDUAL]])
// CHECK: llvm.mlir.global internal constant @par_schedule_train.steps(dense<[0, 0, 1, 8, 2, 0]>
// CHECK: llvm.mlir.global internal constant @par_schedule_train.entries(dense<[
// CHECK-SAME: 0, 0, 0, 1, 3, 4, 2,
// CHECK-SAME: 0, 0, 0, 1, 3, 11, 1,
// CHECK-SAME: 0, 0, 1, 13, 3, 11, 1
// CHECK-SAME: ]> : tensor<21xi32>)
// CHECK: llvm.mlir.global internal constant @par_schedule_train.words(dense<[
// CHECK-SAME: 0, 5000000000, 0, 128, 0, 64, 2, 32, 1, 1, 32, 0, 64, 5000000000, 128, 64
// CHECK-SAME: ]> : tensor<16xi64>)
rank.schedule train attributes {peak_bytes = 5000000064 : i64} {
  %x = rank.slot input "tokens" workspace {tensor = tensor<8xi32>, micro_batch = 0 : i64, offset = 0 : i64} : !rank.buffer<32>
  %y = rank.slot input "tokens" workspace {tensor = tensor<8xi32>, micro_batch = 1 : i64, offset = 32 : i64} : !rank.buffer<32>
  %w = rank.slot variable "w" parameters {tensor = tensor<8xf32>, offset = 64 : i64} : !rank.buffer<32>
  %r = rank.slot residual "0.0" activations {tensor = tensor<8xf32>, offset = 128 : i64} : !rank.buffer<32>
  %f = rank.slot frame "frame" workspace {offset = 5000000000 : i64} : !rank.buffer<64>
  rank.action forward @forward frame %f : !rank.buffer<64> ins(%x : !rank.buffer<32>) outs(%r : !rank.buffer<32>) {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.action forward @forward frame %f : !rank.buffer<64> ins(%y : !rank.buffer<32>) outs(%r : !rank.buffer<32>) {chunk = 0 : i64, micro_batch = 1 : i64}
  rank.action backward @backward frame %f : !rank.buffer<64> ins(%r : !rank.buffer<32>) outs(%w : !rank.buffer<32>) {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.return
}
