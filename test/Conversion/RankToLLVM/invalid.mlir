// RUN: par-opt %s -split-input-file -verify-diagnostics -rank-to-llvm

// What rank-plan-memory and rank-number-work add is needed.
rank.func @f(%x: !rank.buffer<32>) attributes {results = 0 : i64} {
  // expected-error @below {{'rank.alloc' op rank-to-llvm: the buffer has no offset; run rank-plan-memory first}}
  %h = rank.alloc workspace : !rank.buffer<32>
  rank.return
}

// -----

par.mesh @mesh <["dp"=2]>
rank.func @f(%x: !rank.buffer<32>) attributes {frame = 0 : i64, results = 1 : i64} {
  // expected-error @below {{'rank.collective' op rank-to-llvm: the collective has no number; run rank-number-work first}}
  rank.collective ins(%x : !rank.buffer<32>) outs(%x : !rank.buffer<32>) {
  ^bb0(%a: tensor<8xf32>):
    %0 = par.all_reduce sum over ["dp"] %a : (tensor<8xf32>) -> tensor<8xf32>
    rank.yield %0 : tensor<8xf32>
  }
  rank.return
}

// -----

// Memory must have been planned.
par.mesh @mesh <["dp"=1]>
rank.func @forward(%y: !rank.buffer<4>) attributes {results = 1 : i64, frame = 0 : i64} {
  rank.return
}
rank.schedule @train {
  // expected-error @+1 {{rank-to-llvm: the slot has no offset; run rank-plan-memory first}}
  %y = rank.slot output "loss" workspace {tensor = tensor<f32>} : !rank.buffer<4>
  %f = rank.slot frame "frame" workspace {offset = 0 : i64} : !rank.buffer<0>
  rank.action "forward" @forward frame %f : !rank.buffer<0> ins() outs(%y : !rank.buffer<4>) {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.return
}

// -----

// What the runtime's product cannot add is not left out.
rank.func @f(%x: !rank.buffer<128>, %s: !rank.buffer<64>, %t: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {frame = 0 : i64, results = 1 : i64} {
  // expected-error @below {{'rank.gemm' op rank-to-llvm: adds to a product what is neither a tensor, a tensor times a scalar, nor a product before it}}
  rank.gemm ins(%x, %s, %t : !rank.buffer<128>, !rank.buffer<64>, !rank.buffer<64>) outs(%y : !rank.buffer<64>) {
  ^bb0(%a: tensor<4x8xf32>, %b: tensor<4x4xf32>, %c: tensor<4x4xf32>):
    %0 = par.einsum "ae,be->ab"(%a, %a) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
    %1 = arith.addf %b, %c : tensor<4x4xf32>
    %2 = arith.addf %1, %0 : tensor<4x4xf32>
    rank.yield %2 : tensor<4x4xf32>
  }
  rank.return
}
