// RUN: par-opt %s -verify-roundtrip | par-opt | FileCheck %s

// Every op of the dialect in one program.
// CHECK-LABEL: rank.func @f
// CHECK: rank.alloc{{ +}}workspace {offset = 64 : i64} : <64>
// CHECK: rank.kernel ins({{.*}}) outs(
// CHECK: rank.yield %{{.*}} : tensor<4x4xf32>
// CHECK: rank.gemm ins({{.*}}) outs({{.*}}) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 4, n = 4, k = 4, lda = 4, ldb = 4, ldc = 4>]}
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
  rank.gemm ins(%x, %a : !rank.buffer<64>, !rank.buffer<64>) outs(%b : !rank.buffer<64>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 4, n = 4, k = 4, lda = 4, ldb = 4, ldc = 4>]} {
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
// CHECK-LABEL: rank.func @overlapped
// CHECK: %[[EVENT:.*]] = rank.start ins(%{{.*}} : !rank.buffer<64>) outs(%{{.*}} : !rank.buffer<64>) attributes {number = 0 : i64}
// CHECK: rank.copy
// CHECK: rank.wait %[[EVENT]]
rank.func @overlapped(%x: !rank.buffer<64>, %y: !rank.buffer<64>, %z: !rank.buffer<64>) attributes {results = 2 : i64} {
  %e = rank.start ins(%x : !rank.buffer<64>) outs(%y : !rank.buffer<64>) attributes {number = 0 : i64} {
  ^bb0(%t: tensor<4x4xf32>):
    %0 = par.all_reduce sum over ["tp"] %t : (tensor<4x4xf32>) -> tensor<4x4xf32>
    rank.yield %0 : tensor<4x4xf32>
  }
  rank.copy %x to %z : !rank.buffer<64>, !rank.buffer<64>
  rank.wait %e
  rank.return
}
// CHECK-LABEL: rank.func @attention
// CHECK: rank.attention ins({{.*}}) outs({{.*}}) scratch(%{{.*}} : !rank.buffer<12>)
// CHECK-SAME: structure = #rank.attention<type = f32, batch = 1, q_rows = 3, k_rows = 3, kv_heads = 1, group = 1, head_dim = 4, value_dim = 4, q = <buffer = 0, stride = 4>,
rank.func @attention(%q: !rank.buffer<48>, %k: !rank.buffer<48>, %l: !rank.buffer<12>, %p: !rank.buffer<12>, %dq: !rank.buffer<48>, %dk: !rank.buffer<48>, %dv: !rank.buffer<48>)
    attributes {results = 3 : i64} {
  %work = rank.alloc workspace : !rank.buffer<12>
  rank.attention ins(%q, %k, %l, %p : !rank.buffer<48>, !rank.buffer<48>, !rank.buffer<12>, !rank.buffer<12>) outs(%dq, %dk, %dv : !rank.buffer<48>, !rank.buffer<48>, !rank.buffer<48>) scratch(%work : !rank.buffer<12>)
      attributes {structure = #rank.attention<type = f32, batch = 1, q_rows = 3, k_rows = 3, kv_heads = 1, group = 1, head_dim = 4, value_dim = 4, q = <buffer = 0, stride = 4>, k = <buffer = 1, stride = 4>, v = <buffer = 1, stride = 4>, dq = <buffer = 0, stride = 4>, dk = <buffer = 1, stride = 4>, dv = <buffer = 2, stride = 4>>} {
  ^bb0(%a: tensor<1x3x1x1x4xf32>, %c: tensor<1x3x1x4xf32>, %e: tensor<1x1x1x3xf32>, %f: tensor<3xi32>):
    %0, %1, %2 = par.attention_backward %a, %a, %c, %c, %a, %e positions %f, %f {scale = 0.5}
        : (tensor<1x3x1x1x4xf32>, tensor<1x3x1x1x4xf32>, tensor<1x3x1x4xf32>, tensor<1x3x1x4xf32>, tensor<1x3x1x1x4xf32>, tensor<1x1x1x3xf32>, tensor<3xi32>, tensor<3xi32>)
        -> (tensor<1x3x1x1x4xf32>, tensor<1x3x1x4xf32>, tensor<1x3x1x4xf32>)
    rank.yield %0, %1, %2 : tensor<1x3x1x1x4xf32>, tensor<1x3x1x4xf32>, tensor<1x3x1x4xf32>
  }
  rank.return
}
// CHECK-LABEL: rank.func @g
// CHECK: rank.call @f frame %{{.*}} : <128> ins(%{{.*}} : !rank.buffer<64>) outs(%{{.*}} : !rank.buffer<64>) {reads = array<i64: 0>, writes = array<i64: 1>}
rank.func @g(%x: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64, frame = 128 : i64} {
  %f = rank.alloc workspace {offset = 0 : i64} : !rank.buffer<128>
  rank.call @f frame %f : !rank.buffer<128> ins(%x : !rank.buffer<64>) outs(%y : !rank.buffer<64>) {reads = array<i64: 0>, writes = array<i64: 1>}
  rank.return {values = array<i64: 1>}
}
// CHECK-LABEL: rank.schedule train
// CHECK: rank.slot{{ +}}input "tokens"
// CHECK: rank.slot{{ +}}variable "m" optimizer {tensor = tensor<16xf32>} : <64, pinned>
// CHECK: rank.action forward @g frame %{{.*}} : <128> ins(%{{.*}} : !rank.buffer<64>) outs(%{{.*}} : !rank.buffer<64>) {
rank.schedule train {
  %x = rank.slot input "tokens" workspace {tensor = tensor<16xf32>, micro_batch = 0 : i64} : !rank.buffer<64>
  %y = rank.slot output "loss" workspace {tensor = tensor<16xf32>} : !rank.buffer<64>
  %o = rank.slot input "x" workspace {tensor = tensor<16xf32>, reader = "value"} : !rank.buffer<64>
  %m = rank.slot variable "m" optimizer {tensor = tensor<16xf32>} : !rank.buffer<64, pinned>
  %f = rank.slot frame "forward" workspace : !rank.buffer<128>
  rank.action forward @g frame %f : !rank.buffer<128> ins(%x : !rank.buffer<64>) outs(%y : !rank.buffer<64>) {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.return
}
// CHECK-LABEL: rank.schedule train stage 1
// CHECK: rank.exchange receive_activation with [0] ins() outs(%{{.*}} : !rank.buffer<64>) {chunk = 1 : i64, micro_batch = 0 : i64}
// CHECK: rank.exchange received_activation with [0] ins() outs(%{{.*}} : !rank.buffer<64>) {chunk = 1 : i64, micro_batch = 0 : i64, writes = array<i64: 4>}
// CHECK: rank.exchange send_gradient with [0] ins(%{{.*}} : !rank.buffer<64>) outs()
// CHECK: rank.exchange sum_gradients with [0, 1] ins(%{{.*}} : !rank.buffer<64>) outs(%{{.*}} : !rank.buffer<64>)
rank.schedule train stage 1 {
  %x = rank.slot residual "activation 0.0" activations {tensor = tensor<16xf32>} : !rank.buffer<64>
  %dx = rank.slot residual "gradient 0.0" activations {tensor = tensor<16xf32>} : !rank.buffer<64>
  %g = rank.slot variable "g" gradients {tensor = tensor<16xf32>} : !rank.buffer<64>
  rank.exchange receive_activation with [0] ins() outs(%x : !rank.buffer<64>) {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.exchange received_activation with [0] ins() outs(%x : !rank.buffer<64>) {chunk = 1 : i64, micro_batch = 0 : i64, writes = array<i64: 4>}
  rank.exchange send_gradient with [0] ins(%dx : !rank.buffer<64>) outs() {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.exchange sum_gradients with [0, 1] ins(%g : !rank.buffer<64>) outs(%g : !rank.buffer<64>) {chunk = 0 : i64, micro_batch = -1 : i64}
  rank.return
}
