// RUN: par-opt %s -rank-to-llvm | FileCheck %s

// Rows of each entry of the batch, documents, a cap, sinks in bf16, values of another size.
// CHECK-LABEL: llvm.func internal @forward.rank(
// CHECK-SAME: %[[CONTEXT:[^:]*]]: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %[[Q:[^:]*]]: !llvm.ptr, %[[K:[^:]*]]: !llvm.ptr, %[[V:[^:]*]]: !llvm.ptr, %[[P:[^:]*]]: !llvm.ptr, %[[D:[^:]*]]: !llvm.ptr, %[[S:[^:]*]]: !llvm.ptr, %[[OUT:[^:]*]]: !llvm.ptr, %[[LSE:[^:]*]]: !llvm.ptr)
// CHECK: %[[WHAT:.*]] = llvm.alloca %{{.*}} x !llvm.struct
// CHECK: llvm.mlir.constant(4 : i64)
// CHECK-NEXT: llvm.getelementptr %[[WHAT]][0, 5]
// CHECK: llvm.mlir.constant(6 : i64)
// CHECK-NEXT: llvm.getelementptr %[[WHAT]][0, 6]
// CHECK: llvm.mlir.constant(5.000000e+01 : f32)
// CHECK-NEXT: llvm.getelementptr %[[WHAT]][0, 8]
// CHECK: llvm.mlir.constant(1 : i32)
// CHECK-NEXT: llvm.getelementptr %[[WHAT]][0, 10]
// CHECK: llvm.mlir.constant(1 : i32)
// CHECK-NEXT: llvm.getelementptr %[[WHAT]][0, 12]
// CHECK: llvm.mlir.constant(1 : i32)
// CHECK-NEXT: llvm.getelementptr %[[WHAT]][0, 13]
// CHECK: %[[BUFFERS:.*]] = llvm.alloca %{{.*}} x !llvm.ptr
// CHECK: llvm.getelementptr %[[BUFFERS]][5]
// CHECK-NEXT: llvm.store %[[D]],
// CHECK-NEXT: llvm.getelementptr %[[BUFFERS]][6]
// CHECK-NEXT: llvm.store %[[D]],
// CHECK-NEXT: llvm.getelementptr %[[BUFFERS]][7]
// CHECK-NEXT: llvm.store %[[S]],
// CHECK: llvm.call @par_attention_forward(%[[CONTEXT]], %[[WHAT]], %[[BUFFERS]])
rank.func @forward(%q: !rank.buffer<96>, %k: !rank.buffer<96>, %v: !rank.buffer<144>, %p: !rank.buffer<24>, %d: !rank.buffer<24>, %s: !rank.buffer<2>,
                   %o: !rank.buffer<144>, %l: !rank.buffer<24>) attributes {frame = 0 : i64, results = 2 : i64} {
  rank.attention ins(%q, %k, %v, %p, %d, %s : !rank.buffer<96>, !rank.buffer<96>, !rank.buffer<144>, !rank.buffer<24>, !rank.buffer<24>, !rank.buffer<2>)
                 outs(%o, %l : !rank.buffer<144>, !rank.buffer<24>)
                 attributes {structure = #rank.attention<type = f32, batch = 2, q_rows = 3, k_rows = 3, kv_heads = 1, group = 1, head_dim = 4, value_dim = 6, q = <buffer = 0, stride = 4>, k = <buffer = 1, stride = 4>, v = <buffer = 2, stride = 6>>} {
  ^bb0(%a: tensor<2x3x1x1x4xf32>, %b: tensor<2x3x1x4xf32>, %c: tensor<2x3x1x6xf32>, %e: tensor<2x3xi32>, %f: tensor<2x3xi32>, %g: tensor<1x1xbf16>):
    %out, %lse = par.attention %a, %b, %c positions %e, %e documents %f, %f sinks %g {scale = 0.5, cap = 50.0}
        : (tensor<2x3x1x1x4xf32>, tensor<2x3x1x4xf32>, tensor<2x3x1x6xf32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<1x1xbf16>)
        -> (tensor<2x3x1x1x6xf32>, tensor<2x1x1x3xf32>)
    rank.yield %out, %lse : tensor<2x3x1x1x6xf32>, tensor<2x1x1x3xf32>
  }
  rank.return
}

// Backward there are no sinks, but it is told that lse has them in it.
// CHECK-LABEL: llvm.func internal @backward.rank(
// CHECK: %[[WHAT:.*]] = llvm.alloca %{{.*}} x !llvm.struct
// CHECK: llvm.mlir.constant(1 : i32)
// CHECK-NEXT: llvm.getelementptr %[[WHAT]][0, 12]
// CHECK: llvm.mlir.constant(0 : i32)
// CHECK-NEXT: llvm.getelementptr %[[WHAT]][0, 13]
// CHECK: %[[BUFFERS:.*]] = llvm.alloca %{{.*}} x !llvm.ptr
// CHECK-COUNT-7: llvm.mlir.zero : !llvm.ptr
// CHECK: llvm.call @par_attention_backward(
rank.func @backward(%dout: !rank.buffer<72>, %q: !rank.buffer<48>, %v: !rank.buffer<72>, %o: !rank.buffer<72>, %l: !rank.buffer<12>, %p: !rank.buffer<12>,
                    %dq: !rank.buffer<48>, %dk: !rank.buffer<48>, %dv: !rank.buffer<72>) attributes {frame = 0 : i64, results = 3 : i64} {
  rank.attention ins(%dout, %q, %q, %v, %o, %l, %p : !rank.buffer<72>, !rank.buffer<48>, !rank.buffer<48>, !rank.buffer<72>, !rank.buffer<72>, !rank.buffer<12>, !rank.buffer<12>)
                 outs(%dq, %dk, %dv : !rank.buffer<48>, !rank.buffer<48>, !rank.buffer<72>)
                 attributes {structure = #rank.attention<type = f32, batch = 1, q_rows = 3, k_rows = 3, kv_heads = 1, group = 1, head_dim = 4, value_dim = 6, q = <buffer = 1, stride = 4>, k = <buffer = 2, stride = 4>, v = <buffer = 3, stride = 6>, dq = <buffer = 0, stride = 4>, dk = <buffer = 1, stride = 4>, dv = <buffer = 2, stride = 6>>} {
  ^bb0(%a: tensor<1x3x1x1x6xf32>, %b: tensor<1x3x1x1x4xf32>, %c: tensor<1x3x1x4xf32>, %v_: tensor<1x3x1x6xf32>, %d: tensor<1x3x1x1x6xf32>, %e: tensor<1x1x1x3xf32>, %f: tensor<3xi32>):
    %0, %1, %2 = par.attention_backward %a, %b, %c, %v_, %d, %e positions %f, %f {scale = 0.5, sinks}
        : (tensor<1x3x1x1x6xf32>, tensor<1x3x1x1x4xf32>, tensor<1x3x1x4xf32>, tensor<1x3x1x6xf32>, tensor<1x3x1x1x6xf32>, tensor<1x1x1x3xf32>, tensor<3xi32>, tensor<3xi32>)
        -> (tensor<1x3x1x1x4xf32>, tensor<1x3x1x4xf32>, tensor<1x3x1x6xf32>)
    rank.yield %0, %1, %2 : tensor<1x3x1x1x4xf32>, tensor<1x3x1x4xf32>, tensor<1x3x1x6xf32>
  }
  rank.return
}
