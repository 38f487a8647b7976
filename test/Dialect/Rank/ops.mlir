// RUN: par-opt %s -verify-roundtrip | par-opt | FileCheck %s

// Every op of the dialect in one program.
// CHECK-LABEL: rank.func @f
// CHECK: rank.alloc{{ +}}workspace {offset = 64 : i64} : <64>
// CHECK: rank.kernel ins({{.*}}) outs(
// CHECK: rank.gemm ins(
// CHECK: rank.collective ins({{.*}}) attributes {par.cause = "norm"}
// CHECK: rank.copy
// CHECK: rank.return
par.mesh @mesh <["tp"=2]>
rank.func @f(%x: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64, frame = 128 : i64} {
  %a = rank.alloc workspace {offset = 0 : i64} : !rank.buffer<64>
  %b = rank.alloc workspace {offset = 64 : i64} : !rank.buffer<64>
  rank.kernel ins(%x : !rank.buffer<64>) outs(%a : !rank.buffer<64>) {
  ^bb0(%t: tensor<4x4xf32>):
    %0 = math.tanh %t : tensor<4x4xf32>
    rank.yield %0 : tensor<4x4xf32>
  }
  rank.gemm ins(%x, %a : !rank.buffer<64>, !rank.buffer<64>) outs(%b : !rank.buffer<64>) {
  ^bb0(%t: tensor<4x4xf32>, %u: tensor<4x4xf32>):
    %0 = par.einsum "ik,kj->ij"(%t, %u) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    rank.yield %0 : tensor<4x4xf32>
  }
  rank.collective ins(%b : !rank.buffer<64>) outs(%a : !rank.buffer<64>) attributes {par.cause = "norm"} {
  ^bb0(%t: tensor<4x4xf32>):
    %0 = par.all_reduce sum over ["tp"] %t : (tensor<4x4xf32>) -> tensor<4x4xf32>
    rank.yield %0 : tensor<4x4xf32>
  }
  rank.copy %a to %y : !rank.buffer<64>, !rank.buffer<64>
  rank.return
}
// CHECK-LABEL: rank.func @g
// CHECK: rank.call @f frame
rank.func @g(%x: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64, frame = 128 : i64} {
  %f = rank.alloc workspace {offset = 0 : i64} : !rank.buffer<128>
  rank.call @f frame %f(%x, %y) : !rank.buffer<128>, !rank.buffer<64>, !rank.buffer<64>
  rank.return
}
// CHECK-LABEL: rank.schedule @train
// CHECK: rank.slot{{ +}}input "tokens"
// CHECK: rank.action "forward" @g frame
rank.schedule @train {
  %x = rank.slot input "tokens" workspace {tensor = tensor<16xf32>, micro_batch = 0 : i64} : !rank.buffer<64>
  %y = rank.slot output "loss" workspace {tensor = tensor<16xf32>} : !rank.buffer<64>
  %f = rank.slot frame "forward" workspace : !rank.buffer<128>
  rank.action "forward" @g frame %f(%x, %y) {chunk = 0 : i64, micro_batch = 0 : i64} : !rank.buffer<128>, !rank.buffer<64>, !rank.buffer<64>
  rank.return
}
