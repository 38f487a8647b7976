// RUN: par-opt %s -verify-roundtrip | par-opt | FileCheck %s

// Every op of the rank dialect round-trips.
// CHECK-LABEL: rank.func @f
rank.func @f(%x: !rank.buffer<64>, %w: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64} {
  // CHECK: rank.alloc {{ *}}workspace {offset = 0 : i64} : <64>
  %h = rank.alloc workspace {offset = 0 : i64} : !rank.buffer<64>
  // CHECK: rank.kernel ins(%{{.*}} : !rank.buffer<64>) outs
  rank.kernel ins(%x : !rank.buffer<64>) outs(%h : !rank.buffer<64>) {
  ^bb0(%a: tensor<4x4xf32>):
    %0 = math.tanh %a : tensor<4x4xf32>
    // CHECK: rank.yield
    rank.yield %0 : tensor<4x4xf32>
  }
  // CHECK: rank.gemm
  rank.gemm ins(%h, %w : !rank.buffer<64>, !rank.buffer<64>) outs(%y : !rank.buffer<64>) {
  ^bb0(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>):
    %0 = par.einsum "ij,jk->ik"(%a, %b) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    rank.yield %0 : tensor<4x4xf32>
  }
  // CHECK: rank.copy
  rank.copy %y to %h : !rank.buffer<64>, !rank.buffer<64>
  // CHECK: rank.return
  rank.return
}
rank.func @g(%x: !rank.buffer<64>, %w: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64} {
  %frame = rank.alloc workspace : !rank.buffer<64>
  // CHECK: rank.call @f frame
  rank.call @f frame %frame (%x, %w, %y) : !rank.buffer<64>, !rank.buffer<64>, !rank.buffer<64>, !rank.buffer<64>
  rank.return
}
// CHECK: rank.schedule @train
rank.schedule @train {
  // CHECK: rank.slot {{ *}}variable "w" {{ *}}parameters
  %w = rank.slot variable "w" parameters {tensor = tensor<4x4xf32>} : !rank.buffer<64>
  %f = rank.slot frame "forward" workspace : !rank.buffer<64>
  // CHECK: rank.action "forward" @g frame
  rank.action "forward" @g frame %f (%w, %w, %w) {chunk = 0 : i64, micro_batch = 0 : i64} : !rank.buffer<64>, !rank.buffer<64>, !rank.buffer<64>, !rank.buffer<64>
  rank.return
}
