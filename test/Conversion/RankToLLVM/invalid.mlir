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
rank.schedule train {
  // expected-error @+1 {{rank-to-llvm: the slot has no offset; run rank-plan-memory first}}
  %y = rank.slot output "loss" workspace {tensor = tensor<f32>} : !rank.buffer<4>
  %f = rank.slot frame "frame" workspace {offset = 0 : i64} : !rank.buffer<0>
  rank.action forward @forward frame %f : !rank.buffer<0> ins() outs(%y : !rank.buffer<4>) {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.return
}

// -----

// Rows of heads that fill the shared memory of a GPU's block alone.
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
rank.func @forward(%q: !rank.buffer<4800>, %k: !rank.buffer<4800>, %p: !rank.buffer<4>, %o: !rank.buffer<4800>, %l: !rank.buffer<4>) attributes {frame = 0 : i64, results = 2 : i64} {
  // expected-error @below {{attention on a GPU: a head has 1200 elements of 'f32', expected at most 848, of which tiles fit into the shared memory of a block}}
  rank.attention ins(%q, %k, %p : !rank.buffer<4800>, !rank.buffer<4800>, !rank.buffer<4>) outs(%o, %l : !rank.buffer<4800>, !rank.buffer<4>)
                 attributes {structure = #rank.attention<type = f32, batch = 1, q_rows = 1, k_rows = 1, kv_heads = 1, group = 1, head_dim = 1200, value_dim = 1200, q = <buffer = 0, stride = 1200>, k = <buffer = 1, stride = 1200>, v = <buffer = 1, stride = 1200>>} {
  ^bb0(%a: tensor<1x1x1x1x1200xf32>, %b: tensor<1x1x1x1200xf32>, %d: tensor<1xi32>):
    %out, %lse = par.attention %a, %b, %b positions %d, %d {causal, scale = 0.5}
        : (tensor<1x1x1x1x1200xf32>, tensor<1x1x1x1200xf32>, tensor<1x1x1x1200xf32>, tensor<1xi32>, tensor<1xi32>) -> (tensor<1x1x1x1x1200xf32>, tensor<1x1x1x1xf32>)
    rank.yield %out, %lse : tensor<1x1x1x1x1200xf32>, tensor<1x1x1x1xf32>
  }
  rank.return
}
}
