// RUN: par-opt %s -split-input-file -rank-to-llvm | FileCheck %s

// Attention of newer models that cuDNN does not compute, and why: each by a kernel of its own.

// CHECK: rank.attentions = []
// CHECK-SAME: reason = "no cuDNN: a cap of scores"
// CHECK: llvm.func @attention_0(
// CHECK: llvm.inline_asm {{.*}}"tanh.approx.f32 $0, $1;"
// CHECK-NOT: nvvm.redux
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
rank.func @cap(%q: !rank.buffer<2048>, %k: !rank.buffer<2048>, %v: !rank.buffer<2048>, %p: !rank.buffer<32>, %r: !rank.buffer<32>, %o: !rank.buffer<2048>, %l: !rank.buffer<64>) attributes {frame = 0 : i64, results = 2 : i64} {
  rank.attention ins(%q, %k, %v, %p, %r : !rank.buffer<2048>, !rank.buffer<2048>, !rank.buffer<2048>, !rank.buffer<32>, !rank.buffer<32>) outs(%o, %l : !rank.buffer<2048>, !rank.buffer<64>)
      attributes {structure = #rank.attention<type = bf16, batch = 2, q_rows = 8, k_rows = 8, kv_heads = 1, group = 1, head_dim = 64, value_dim = 64, q = <buffer = 0, stride = 64>, k = <buffer = 1, stride = 64>, v = <buffer = 2, stride = 64>>} {
  ^bb0(%qt: tensor<2x8x1x1x64xbf16>, %kt: tensor<2x8x1x64xbf16>, %vt: tensor<2x8x1x64xbf16>, %pt: tensor<8xi32>, %rt: tensor<8xi32>):
    %out, %lse = par.attention %qt, %kt, %vt positions %pt, %rt {cap = 5.0 : f64, scale = 0.5} : (tensor<2x8x1x1x64xbf16>, tensor<2x8x1x64xbf16>, tensor<2x8x1x64xbf16>, tensor<8xi32>, tensor<8xi32>) -> (tensor<2x8x1x1x64xbf16>, tensor<2x1x1x8xf32>)
    rank.yield %out, %lse : tensor<2x8x1x1x64xbf16>, tensor<2x1x1x8xf32>
  }
  rank.return
}
}

// -----

// CHECK: rank.attentions = []
// CHECK-SAME: reason = "no cuDNN: sinks"
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
rank.func @sinks(%q: !rank.buffer<2048>, %k: !rank.buffer<2048>, %v: !rank.buffer<2048>, %p: !rank.buffer<32>, %r: !rank.buffer<32>, %u: !rank.buffer<4>, %o: !rank.buffer<2048>, %l: !rank.buffer<64>) attributes {frame = 0 : i64, results = 2 : i64} {
  rank.attention ins(%q, %k, %v, %p, %r, %u : !rank.buffer<2048>, !rank.buffer<2048>, !rank.buffer<2048>, !rank.buffer<32>, !rank.buffer<32>, !rank.buffer<4>) outs(%o, %l : !rank.buffer<2048>, !rank.buffer<64>)
      attributes {structure = #rank.attention<type = bf16, batch = 2, q_rows = 8, k_rows = 8, kv_heads = 1, group = 1, head_dim = 64, value_dim = 64, q = <buffer = 0, stride = 64>, k = <buffer = 1, stride = 64>, v = <buffer = 2, stride = 64>>} {
  ^bb0(%qt: tensor<2x8x1x1x64xbf16>, %kt: tensor<2x8x1x64xbf16>, %vt: tensor<2x8x1x64xbf16>, %pt: tensor<8xi32>, %rt: tensor<8xi32>, %ut: tensor<1x1xf32>):
    %out, %lse = par.attention %qt, %kt, %vt positions %pt, %rt sinks %ut {scale = 0.5} : (tensor<2x8x1x1x64xbf16>, tensor<2x8x1x64xbf16>, tensor<2x8x1x64xbf16>, tensor<8xi32>, tensor<8xi32>, tensor<1x1xf32>) -> (tensor<2x8x1x1x64xbf16>, tensor<2x1x1x8xf32>)
    rank.yield %out, %lse : tensor<2x8x1x1x64xbf16>, tensor<2x1x1x8xf32>
  }
  rank.return
}
}

// -----

// CHECK: rank.attentions = []
// CHECK-SAME: reason = "no cuDNN: documents"
// CHECK: llvm.func @attention_0(
// CHECK: nvvm.redux.sync min
// CHECK-NOT: tanh
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
rank.func @documents(%q: !rank.buffer<2048>, %k: !rank.buffer<2048>, %v: !rank.buffer<2048>, %p: !rank.buffer<32>, %r: !rank.buffer<32>, %s: !rank.buffer<32>, %t: !rank.buffer<32>, %o: !rank.buffer<2048>, %l: !rank.buffer<64>) attributes {frame = 0 : i64, results = 2 : i64} {
  rank.attention ins(%q, %k, %v, %p, %r, %s, %t : !rank.buffer<2048>, !rank.buffer<2048>, !rank.buffer<2048>, !rank.buffer<32>, !rank.buffer<32>, !rank.buffer<32>, !rank.buffer<32>) outs(%o, %l : !rank.buffer<2048>, !rank.buffer<64>)
      attributes {structure = #rank.attention<type = bf16, batch = 2, q_rows = 8, k_rows = 8, kv_heads = 1, group = 1, head_dim = 64, value_dim = 64, q = <buffer = 0, stride = 64>, k = <buffer = 1, stride = 64>, v = <buffer = 2, stride = 64>>} {
  ^bb0(%qt: tensor<2x8x1x1x64xbf16>, %kt: tensor<2x8x1x64xbf16>, %vt: tensor<2x8x1x64xbf16>, %pt: tensor<8xi32>, %rt: tensor<8xi32>, %st: tensor<8xi32>, %tt: tensor<8xi32>):
    %out, %lse = par.attention %qt, %kt, %vt positions %pt, %rt documents %st, %tt {scale = 0.5} : (tensor<2x8x1x1x64xbf16>, tensor<2x8x1x64xbf16>, tensor<2x8x1x64xbf16>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) -> (tensor<2x8x1x1x64xbf16>, tensor<2x1x1x8xf32>)
    rank.yield %out, %lse : tensor<2x8x1x1x64xbf16>, tensor<2x1x1x8xf32>
  }
  rank.return
}
}

// -----

// CHECK: rank.attentions = []
// CHECK-SAME: reason = "no cuDNN: positions of each entry of the batch"
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
rank.func @entries(%q: !rank.buffer<2048>, %k: !rank.buffer<2048>, %v: !rank.buffer<2048>, %p: !rank.buffer<64>, %r: !rank.buffer<64>, %o: !rank.buffer<2048>, %l: !rank.buffer<64>) attributes {frame = 0 : i64, results = 2 : i64} {
  rank.attention ins(%q, %k, %v, %p, %r : !rank.buffer<2048>, !rank.buffer<2048>, !rank.buffer<2048>, !rank.buffer<64>, !rank.buffer<64>) outs(%o, %l : !rank.buffer<2048>, !rank.buffer<64>)
      attributes {structure = #rank.attention<type = bf16, batch = 2, q_rows = 8, k_rows = 8, kv_heads = 1, group = 1, head_dim = 64, value_dim = 64, q = <buffer = 0, stride = 64>, k = <buffer = 1, stride = 64>, v = <buffer = 2, stride = 64>>} {
  ^bb0(%qt: tensor<2x8x1x1x64xbf16>, %kt: tensor<2x8x1x64xbf16>, %vt: tensor<2x8x1x64xbf16>, %pt: tensor<2x8xi32>, %rt: tensor<2x8xi32>):
    %out, %lse = par.attention %qt, %kt, %vt positions %pt, %rt {scale = 0.5} : (tensor<2x8x1x1x64xbf16>, tensor<2x8x1x64xbf16>, tensor<2x8x1x64xbf16>, tensor<2x8xi32>, tensor<2x8xi32>) -> (tensor<2x8x1x1x64xbf16>, tensor<2x1x1x8xf32>)
    rank.yield %out, %lse : tensor<2x8x1x1x64xbf16>, tensor<2x1x1x8xf32>
  }
  rank.return
}
}

// -----

// CHECK: rank.attentions = []
// CHECK-SAME: reason = "no cuDNN: values of 128 elements beside keys of 64"
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
rank.func @values(%q: !rank.buffer<2048>, %k: !rank.buffer<2048>, %v: !rank.buffer<4096>, %p: !rank.buffer<32>, %r: !rank.buffer<32>, %o: !rank.buffer<4096>, %l: !rank.buffer<64>) attributes {frame = 0 : i64, results = 2 : i64} {
  rank.attention ins(%q, %k, %v, %p, %r : !rank.buffer<2048>, !rank.buffer<2048>, !rank.buffer<4096>, !rank.buffer<32>, !rank.buffer<32>) outs(%o, %l : !rank.buffer<4096>, !rank.buffer<64>)
      attributes {structure = #rank.attention<type = bf16, batch = 2, q_rows = 8, k_rows = 8, kv_heads = 1, group = 1, head_dim = 64, value_dim = 128, q = <buffer = 0, stride = 64>, k = <buffer = 1, stride = 64>, v = <buffer = 2, stride = 128>>} {
  ^bb0(%qt: tensor<2x8x1x1x64xbf16>, %kt: tensor<2x8x1x64xbf16>, %vt: tensor<2x8x1x128xbf16>, %pt: tensor<8xi32>, %rt: tensor<8xi32>):
    %out, %lse = par.attention %qt, %kt, %vt positions %pt, %rt {scale = 0.5} : (tensor<2x8x1x1x64xbf16>, tensor<2x8x1x64xbf16>, tensor<2x8x1x128xbf16>, tensor<8xi32>, tensor<8xi32>) -> (tensor<2x8x1x1x128xbf16>, tensor<2x1x1x8xf32>)
    rank.yield %out, %lse : tensor<2x8x1x1x128xbf16>, tensor<2x1x1x8xf32>
  }
  rank.return
}
}
