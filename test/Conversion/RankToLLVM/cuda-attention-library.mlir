// RUN: par-opt %s -split-input-file -rank-to-llvm | FileCheck %s

// Which attention cuDNN may compute, and why it does not compute the others.

// CHECK: rank.attentions = [{backward = false, batch = 2 : i64, buffers = 8 : i64, causal = true, group = 1 : i64, head_dim = 64 : i64, k = array<i64: 1, 0, 64>, kv_heads = 1 : i64,
// CHECK-SAME: launches = [{buffers = array<i64: 0, 1, 2, 3, 4, 5, 6>, kernel = 0 : i64}], lse = 6 : i64, name = "attention_0", out = array<i64: 5, 0, 64>, q = array<i64: 0, 0, 64>, rows = 8 : i64,
// CHECK-SAME: scale = 5.000000e-01 : f64, v = array<i64: 2, 0, 64>, window = 0 : i64, workspace = 7 : i64, workspace_bytes = 256 : i64}]
// CHECK: llvm.call @par_attention_call(
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
rank.func @plain(%q: !rank.buffer<2048>, %k: !rank.buffer<2048>, %v: !rank.buffer<2048>, %p: !rank.buffer<32>, %r: !rank.buffer<32>, %o: !rank.buffer<2048>, %l: !rank.buffer<64>, %w: !rank.buffer<256>) attributes {frame = 0 : i64, results = 2 : i64} {
  rank.attention ins(%q, %k, %v, %p, %r : !rank.buffer<2048>, !rank.buffer<2048>, !rank.buffer<2048>, !rank.buffer<32>, !rank.buffer<32>) outs(%o, %l : !rank.buffer<2048>, !rank.buffer<64>) scratch(%w : !rank.buffer<256>)
      attributes {structure = #rank.attention<type = bf16, batch = 2, q_rows = 8, k_rows = 8, kv_heads = 1, group = 1, head_dim = 64, value_dim = 64, q = <buffer = 0, stride = 64>, k = <buffer = 1, stride = 64>, v = <buffer = 2, stride = 64>>} {
  ^bb0(%a: tensor<2x8x1x1x64xbf16>, %b: tensor<2x8x1x64xbf16>, %c: tensor<2x8x1x64xbf16>, %d: tensor<8xi32>, %e: tensor<8xi32>):
    %out, %lse = par.attention %a, %b, %c positions %d, %e {causal, diagonal, scale = 0.5} : (tensor<2x8x1x1x64xbf16>, tensor<2x8x1x64xbf16>, tensor<2x8x1x64xbf16>, tensor<8xi32>, tensor<8xi32>) -> (tensor<2x8x1x1x64xbf16>, tensor<2x1x1x8xf32>)
    rank.yield %out, %lse : tensor<2x8x1x1x64xbf16>, tensor<2x1x1x8xf32>
  }
  rank.return
}
}

// -----

// CHECK: rank.attentions = []
// CHECK-SAME: reason = "no cuDNN: f32"
// CHECK: llvm.call @par_launch(
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
rank.func @f32(%q: !rank.buffer<4096>, %k: !rank.buffer<4096>, %v: !rank.buffer<4096>, %p: !rank.buffer<32>, %r: !rank.buffer<32>, %o: !rank.buffer<4096>, %l: !rank.buffer<64>, %w: !rank.buffer<256>) attributes {frame = 0 : i64, results = 2 : i64} {
  rank.attention ins(%q, %k, %v, %p, %r : !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<4096>, !rank.buffer<32>, !rank.buffer<32>) outs(%o, %l : !rank.buffer<4096>, !rank.buffer<64>) scratch(%w : !rank.buffer<256>)
      attributes {structure = #rank.attention<type = f32, batch = 2, q_rows = 8, k_rows = 8, kv_heads = 1, group = 1, head_dim = 64, value_dim = 64, q = <buffer = 0, stride = 64>, k = <buffer = 1, stride = 64>, v = <buffer = 2, stride = 64>>} {
  ^bb0(%a: tensor<2x8x1x1x64xf32>, %b: tensor<2x8x1x64xf32>, %c: tensor<2x8x1x64xf32>, %d: tensor<8xi32>, %e: tensor<8xi32>):
    %out, %lse = par.attention %a, %b, %c positions %d, %e {causal, diagonal, scale = 0.5} : (tensor<2x8x1x1x64xf32>, tensor<2x8x1x64xf32>, tensor<2x8x1x64xf32>, tensor<8xi32>, tensor<8xi32>) -> (tensor<2x8x1x1x64xf32>, tensor<2x1x1x8xf32>)
    rank.yield %out, %lse : tensor<2x8x1x1x64xf32>, tensor<2x1x1x8xf32>
  }
  rank.return
}
}

// -----

// CHECK: rank.attentions = []
// CHECK-SAME: reason = "no cuDNN: positions that are no diagonal"
// CHECK: llvm.call @par_launch(
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
rank.func @positions(%q: !rank.buffer<2048>, %k: !rank.buffer<2048>, %v: !rank.buffer<2048>, %p: !rank.buffer<32>, %r: !rank.buffer<32>, %o: !rank.buffer<2048>, %l: !rank.buffer<64>, %w: !rank.buffer<256>) attributes {frame = 0 : i64, results = 2 : i64} {
  rank.attention ins(%q, %k, %v, %p, %r : !rank.buffer<2048>, !rank.buffer<2048>, !rank.buffer<2048>, !rank.buffer<32>, !rank.buffer<32>) outs(%o, %l : !rank.buffer<2048>, !rank.buffer<64>) scratch(%w : !rank.buffer<256>)
      attributes {structure = #rank.attention<type = bf16, batch = 2, q_rows = 8, k_rows = 8, kv_heads = 1, group = 1, head_dim = 64, value_dim = 64, q = <buffer = 0, stride = 64>, k = <buffer = 1, stride = 64>, v = <buffer = 2, stride = 64>>} {
  ^bb0(%a: tensor<2x8x1x1x64xbf16>, %b: tensor<2x8x1x64xbf16>, %c: tensor<2x8x1x64xbf16>, %d: tensor<8xi32>, %e: tensor<8xi32>):
    %out, %lse = par.attention %a, %b, %c positions %d, %e {causal, scale = 0.5} : (tensor<2x8x1x1x64xbf16>, tensor<2x8x1x64xbf16>, tensor<2x8x1x64xbf16>, tensor<8xi32>, tensor<8xi32>) -> (tensor<2x8x1x1x64xbf16>, tensor<2x1x1x8xf32>)
    rank.yield %out, %lse : tensor<2x8x1x1x64xbf16>, tensor<2x1x1x8xf32>
  }
  rank.return
}
}

// -----

// CHECK: rank.attentions = []
// CHECK-SAME: reason = "no cuDNN: heads of 20 elements"
// CHECK: llvm.call @par_launch(
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
rank.func @head(%q: !rank.buffer<640>, %k: !rank.buffer<640>, %v: !rank.buffer<640>, %p: !rank.buffer<32>, %r: !rank.buffer<32>, %o: !rank.buffer<640>, %l: !rank.buffer<64>, %w: !rank.buffer<256>) attributes {frame = 0 : i64, results = 2 : i64} {
  rank.attention ins(%q, %k, %v, %p, %r : !rank.buffer<640>, !rank.buffer<640>, !rank.buffer<640>, !rank.buffer<32>, !rank.buffer<32>) outs(%o, %l : !rank.buffer<640>, !rank.buffer<64>) scratch(%w : !rank.buffer<256>)
      attributes {structure = #rank.attention<type = bf16, batch = 2, q_rows = 8, k_rows = 8, kv_heads = 1, group = 1, head_dim = 20, value_dim = 20, q = <buffer = 0, stride = 20>, k = <buffer = 1, stride = 20>, v = <buffer = 2, stride = 20>>} {
  ^bb0(%a: tensor<2x8x1x1x20xbf16>, %b: tensor<2x8x1x20xbf16>, %c: tensor<2x8x1x20xbf16>, %d: tensor<8xi32>, %e: tensor<8xi32>):
    %out, %lse = par.attention %a, %b, %c positions %d, %e {causal, diagonal, scale = 0.5} : (tensor<2x8x1x1x20xbf16>, tensor<2x8x1x20xbf16>, tensor<2x8x1x20xbf16>, tensor<8xi32>, tensor<8xi32>) -> (tensor<2x8x1x1x20xbf16>, tensor<2x1x1x8xf32>)
    rank.yield %out, %lse : tensor<2x8x1x1x20xbf16>, tensor<2x1x1x8xf32>
  }
  rank.return
}
}

// -----

// CHECK: rank.attentions = []
// CHECK-SAME: reason = "no cuDNN: heads of 136 elements"
// CHECK: llvm.call @par_launch(
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
rank.func @large(%q: !rank.buffer<4352>, %k: !rank.buffer<4352>, %v: !rank.buffer<4352>, %p: !rank.buffer<32>, %r: !rank.buffer<32>, %o: !rank.buffer<4352>, %l: !rank.buffer<64>, %w: !rank.buffer<256>) attributes {frame = 0 : i64, results = 2 : i64} {
  rank.attention ins(%q, %k, %v, %p, %r : !rank.buffer<4352>, !rank.buffer<4352>, !rank.buffer<4352>, !rank.buffer<32>, !rank.buffer<32>) outs(%o, %l : !rank.buffer<4352>, !rank.buffer<64>) scratch(%w : !rank.buffer<256>)
      attributes {structure = #rank.attention<type = bf16, batch = 2, q_rows = 8, k_rows = 8, kv_heads = 1, group = 1, head_dim = 136, value_dim = 136, q = <buffer = 0, stride = 136>, k = <buffer = 1, stride = 136>, v = <buffer = 2, stride = 136>>} {
  ^bb0(%a: tensor<2x8x1x1x136xbf16>, %b: tensor<2x8x1x136xbf16>, %c: tensor<2x8x1x136xbf16>, %d: tensor<8xi32>, %e: tensor<8xi32>):
    %out, %lse = par.attention %a, %b, %c positions %d, %e {causal, diagonal, scale = 0.5} : (tensor<2x8x1x1x136xbf16>, tensor<2x8x1x136xbf16>, tensor<2x8x1x136xbf16>, tensor<8xi32>, tensor<8xi32>) -> (tensor<2x8x1x1x136xbf16>, tensor<2x1x1x8xf32>)
    rank.yield %out, %lse : tensor<2x8x1x1x136xbf16>, tensor<2x1x1x8xf32>
  }
  rank.return
}
}

// -----

// CHECK: rank.attentions = []
// CHECK-SAME: reason = "no cuDNN: a window that is not causal"
// CHECK: llvm.call @par_launch(
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
rank.func @window(%q: !rank.buffer<2048>, %k: !rank.buffer<2048>, %v: !rank.buffer<2048>, %p: !rank.buffer<32>, %r: !rank.buffer<32>, %o: !rank.buffer<2048>, %l: !rank.buffer<64>, %w: !rank.buffer<256>) attributes {frame = 0 : i64, results = 2 : i64} {
  rank.attention ins(%q, %k, %v, %p, %r : !rank.buffer<2048>, !rank.buffer<2048>, !rank.buffer<2048>, !rank.buffer<32>, !rank.buffer<32>) outs(%o, %l : !rank.buffer<2048>, !rank.buffer<64>) scratch(%w : !rank.buffer<256>)
      attributes {structure = #rank.attention<type = bf16, batch = 2, q_rows = 8, k_rows = 8, kv_heads = 1, group = 1, head_dim = 64, value_dim = 64, q = <buffer = 0, stride = 64>, k = <buffer = 1, stride = 64>, v = <buffer = 2, stride = 64>>} {
  ^bb0(%a: tensor<2x8x1x1x64xbf16>, %b: tensor<2x8x1x64xbf16>, %c: tensor<2x8x1x64xbf16>, %d: tensor<8xi32>, %e: tensor<8xi32>):
    %out, %lse = par.attention %a, %b, %c positions %d, %e {window = 4 : i64, diagonal, scale = 0.5} : (tensor<2x8x1x1x64xbf16>, tensor<2x8x1x64xbf16>, tensor<2x8x1x64xbf16>, tensor<8xi32>, tensor<8xi32>) -> (tensor<2x8x1x1x64xbf16>, tensor<2x1x1x8xf32>)
    rank.yield %out, %lse : tensor<2x8x1x1x64xbf16>, tensor<2x1x1x8xf32>
  }
  rank.return
}
}

// -----

// CHECK: rank.attentions = [{backward = false, batch = 2 : i64, buffers = 8 : i64, causal = false, group = 1 : i64, head_dim = 64 : i64, k = array<i64: 1, 0, 64>, kv_heads = 1 : i64,
// CHECK-SAME: launches = [{buffers = array<i64: 0, 1, 2, 3, 4, 5, 6>, kernel = 0 : i64}], lse = 6 : i64, name = "attention_0", out = array<i64: 5, 0, 64>, q = array<i64: 0, 0, 64>, rows = 8 : i64,
// CHECK-SAME: scale = 5.000000e-01 : f64, v = array<i64: 2, 0, 64>, window = 0 : i64, workspace = 7 : i64, workspace_bytes = 256 : i64}]
// CHECK: llvm.call @par_attention_call(
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
rank.func @full(%q: !rank.buffer<2048>, %k: !rank.buffer<2048>, %v: !rank.buffer<2048>, %p: !rank.buffer<32>, %r: !rank.buffer<32>, %o: !rank.buffer<2048>, %l: !rank.buffer<64>, %w: !rank.buffer<256>) attributes {frame = 0 : i64, results = 2 : i64} {
  rank.attention ins(%q, %k, %v, %p, %r : !rank.buffer<2048>, !rank.buffer<2048>, !rank.buffer<2048>, !rank.buffer<32>, !rank.buffer<32>) outs(%o, %l : !rank.buffer<2048>, !rank.buffer<64>) scratch(%w : !rank.buffer<256>)
      attributes {structure = #rank.attention<type = bf16, batch = 2, q_rows = 8, k_rows = 8, kv_heads = 1, group = 1, head_dim = 64, value_dim = 64, q = <buffer = 0, stride = 64>, k = <buffer = 1, stride = 64>, v = <buffer = 2, stride = 64>>} {
  ^bb0(%a: tensor<2x8x1x1x64xbf16>, %b: tensor<2x8x1x64xbf16>, %c: tensor<2x8x1x64xbf16>, %d: tensor<8xi32>, %e: tensor<8xi32>):
    %out, %lse = par.attention %a, %b, %c positions %d, %e {scale = 0.5} : (tensor<2x8x1x1x64xbf16>, tensor<2x8x1x64xbf16>, tensor<2x8x1x64xbf16>, tensor<8xi32>, tensor<8xi32>) -> (tensor<2x8x1x1x64xbf16>, tensor<2x1x1x8xf32>)
    rank.yield %out, %lse : tensor<2x8x1x1x64xbf16>, tensor<2x1x1x8xf32>
  }
  rank.return
}
}
