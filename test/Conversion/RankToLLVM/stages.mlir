// RUN: par-opt %s -rank-to-llvm | FileCheck %s --implicit-check-not="rank."

// A function per stage. Numbers of actions begin anew with a stage; its messages are those of rank-number-work.
rank.func @forward(%x: !rank.buffer<32>, %y: !rank.buffer<32>) attributes {frame = 64 : i64, results = 1 : i64} {
  rank.copy %x to %y : !rank.buffer<32>, !rank.buffer<32>
  rank.return
}
rank.func @last(%x: !rank.buffer<32>, %y: !rank.buffer<32, pinned>) attributes {frame = 64 : i64, results = 1 : i64} {
  rank.copy %x to %y : !rank.buffer<32>, !rank.buffer<32, pinned>
  rank.return
}

// Kinds: 0 calls a function, 1 begins a message, 2 waits for it, 3 runs a collective. What is received is discarded by the runtime when the message
// begins, not by the action that reads it. Bit 0 of a word is for the arena in host memory.
// CHECK-LABEL: llvm.func @par_schedule_train_0(
// CHECK: llvm.mlir.global internal constant @par_schedule_train_0.steps(dense<[0, 0, 1, 0, 2, 0]>
// CHECK: llvm.mlir.global internal constant @par_schedule_train_0.entries(dense<[
// CHECK-SAME: 0, 0, 0, 1, 3, 4, 2,
// CHECK-SAME: 1, 0, 0, 8, 1, 0, 0,
// CHECK-SAME: 2, 0, 0, 0, 0, 0, 0
// CHECK-SAME: ]> : tensor<21xi32>)
// CHECK: llvm.mlir.global internal constant @par_schedule_train_0.words(dense<[0, 128, 0, 64, 0, 64, 2, 32, 64]>
rank.schedule train stage 0 attributes {peak_bytes = 192 : i64} {
  %x = rank.slot input "tokens" workspace {tensor = tensor<8xi32>, micro_batch = 0 : i64, offset = 0 : i64} : !rank.buffer<32>
  %y = rank.slot residual "activation 0.0" activations {tensor = tensor<8xf32>, offset = 64 : i64} : !rank.buffer<32>
  %f = rank.slot frame "frame" workspace {offset = 128 : i64} : !rank.buffer<64>
  rank.action forward @forward frame %f : !rank.buffer<64> ins(%x : !rank.buffer<32>) outs(%y : !rank.buffer<32>) {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.exchange send_activation with [1] ins(%y : !rank.buffer<32>) outs() {chunk = 0 : i64, micro_batch = 0 : i64, number = 0 : i64}
  rank.exchange sent_activation with [1] ins(%y : !rank.buffer<32>) outs() {chunk = 0 : i64, micro_batch = 0 : i64, number = 0 : i64}
  rank.return
}

// CHECK-LABEL: llvm.func @par_schedule_train_1(
// CHECK: llvm.mlir.global internal constant @par_schedule_train_1.steps(dense<[0, 0, 1, 0, 2, 0, 3, 0]>
// CHECK: llvm.mlir.global internal constant @par_schedule_train_1.entries(dense<[
// CHECK-SAME: 1, 0, 0, 1, 1, 0, 0,
// CHECK-SAME: 2, 0, 0, 0, 0, 0, 0,
// CHECK-SAME: 0, 0, 0, 2, 3, 5, 1,
// CHECK-SAME: 3, 5, 0, 7, 2, 0, 0
// CHECK-SAME: ]> : tensor<28xi32>)
// CHECK: llvm.mlir.global internal constant @par_schedule_train_1.words(dense<[0, 0, 128, 0, 65, 0, 64, 65, 65]>
rank.schedule train stage 1 attributes {peak_bytes = 192 : i64, host_peak_bytes = 96 : i64} {
  %y = rank.slot residual "activation 0.0" activations {tensor = tensor<8xf32>, offset = 0 : i64} : !rank.buffer<32>
  %w = rank.slot variable "w" gradients {tensor = tensor<8xf32>, offset = 64 : i64} : !rank.buffer<32, pinned>
  %f = rank.slot frame "frame" workspace {offset = 128 : i64} : !rank.buffer<64>
  rank.exchange receive_activation with [0] ins() outs(%y : !rank.buffer<32>) {chunk = 1 : i64, micro_batch = 0 : i64, number = 0 : i64}
  rank.exchange received_activation with [0] ins() outs(%y : !rank.buffer<32>) {chunk = 1 : i64, micro_batch = 0 : i64, number = 0 : i64}
  rank.action forward @last frame %f : !rank.buffer<64> ins(%y : !rank.buffer<32>) outs(%w : !rank.buffer<32, pinned>) {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.exchange sum_gradients with [0, 1] ins(%w : !rank.buffer<32, pinned>) outs(%w : !rank.buffer<32, pinned>) {chunk = 0 : i64, micro_batch = -1 : i64, number = 5 : i64}
  rank.return
}
