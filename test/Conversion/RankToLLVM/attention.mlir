// RUN: par-opt %s -rank-to-llvm | FileCheck %s

// The description (struct par_attention of runtime.h): sizes, scale, cap, causal, window, dropout; then the buffers q k v, positions of q and
// k, null for documents, sinks and what only dropout needs, and the results.
// CHECK-LABEL: llvm.func internal @forward.rank(
// CHECK-SAME: %[[CONTEXT:[^:]*]]: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %[[Q:[^:]*]]: !llvm.ptr, %[[K:[^:]*]]: !llvm.ptr, %[[V:[^:]*]]: !llvm.ptr, %[[P:[^:]*]]: !llvm.ptr, %[[KP:[^:]*]]: !llvm.ptr, %[[OUT:[^:]*]]: !llvm.ptr, %[[LSE:[^:]*]]: !llvm.ptr)
// CHECK: %[[WHAT:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(i64, i64, i64, i64, i64, i64, i64, f32, f32, i32, i32, i64, i32, i32, f32, array<5 x i64>, i64, i64, i64, i64, i64, i64)>
// CHECK-NEXT: llvm.mlir.constant(3 : i64)
// CHECK-NEXT: llvm.getelementptr %[[WHAT]][0, 0]
// CHECK: llvm.mlir.constant(8 : i64)
// CHECK-NEXT: llvm.getelementptr %[[WHAT]][0, 1]
// CHECK: llvm.mlir.constant(10 : i64)
// CHECK-NEXT: llvm.getelementptr %[[WHAT]][0, 2]
// CHECK: llvm.mlir.constant(2 : i64)
// CHECK-NEXT: llvm.getelementptr %[[WHAT]][0, 3]
// CHECK: llvm.mlir.constant(5 : i64)
// CHECK-NEXT: llvm.getelementptr %[[WHAT]][0, 4]
// CHECK: llvm.mlir.constant(4 : i64)
// CHECK-NEXT: llvm.getelementptr %[[WHAT]][0, 5]
// CHECK: llvm.mlir.constant(4 : i64)
// CHECK-NEXT: llvm.getelementptr %[[WHAT]][0, 6]
// CHECK: llvm.mlir.constant(5.000000e-01 : f32)
// CHECK-NEXT: llvm.getelementptr %[[WHAT]][0, 7]
// CHECK: llvm.mlir.constant(0.000000e+00 : f32)
// CHECK-NEXT: llvm.getelementptr %[[WHAT]][0, 8]
// CHECK: llvm.mlir.constant(1 : i32)
// CHECK-NEXT: llvm.getelementptr %[[WHAT]][0, 9]
// CHECK: llvm.mlir.constant(0 : i32)
// CHECK-NEXT: llvm.getelementptr %[[WHAT]][0, 10]
// CHECK: llvm.mlir.constant(7 : i64)
// CHECK-NEXT: llvm.getelementptr %[[WHAT]][0, 11]
// CHECK: llvm.mlir.constant(0 : i32)
// CHECK-NEXT: llvm.getelementptr %[[WHAT]][0, 12]
// CHECK: llvm.mlir.constant(0 : i32)
// CHECK-NEXT: llvm.getelementptr %[[WHAT]][0, 13]
// CHECK: llvm.mlir.constant(0.000000e+00 : f32)
// CHECK-NEXT: llvm.getelementptr %[[WHAT]][0, 14]
// CHECK: %[[BUFFERS:.*]] = llvm.alloca %{{.*}} x !llvm.ptr
// CHECK: llvm.store %[[Q]],
// CHECK: llvm.store %[[K]],
// CHECK: llvm.store %[[V]],
// CHECK: llvm.store %[[P]],
// CHECK-NEXT: llvm.getelementptr %[[BUFFERS]][4]
// CHECK-NEXT: llvm.store %[[KP]],
// CHECK-COUNT-7: llvm.mlir.zero : !llvm.ptr
// CHECK: llvm.store %[[OUT]],
// CHECK-NEXT: llvm.getelementptr %[[BUFFERS]][13]
// CHECK-NEXT: llvm.store %[[LSE]],
// CHECK-NEXT: llvm.call @par_attention_forward(%[[CONTEXT]], %[[WHAT]], %[[BUFFERS]])
rank.func @forward(%q: !rank.buffer<3840>, %k: !rank.buffer<960>, %v: !rank.buffer<960>, %p: !rank.buffer<32>, %r: !rank.buffer<40>,
                   %o: !rank.buffer<3840>, %l: !rank.buffer<960>) attributes {frame = 0 : i64, results = 2 : i64} {
  rank.attention ins(%q, %k, %v, %p, %r : !rank.buffer<3840>, !rank.buffer<960>, !rank.buffer<960>, !rank.buffer<32>, !rank.buffer<40>)
                 outs(%o, %l : !rank.buffer<3840>, !rank.buffer<960>)
                 attributes {structure = #rank.attention<type = f32, batch = 3, q_rows = 8, k_rows = 10, kv_heads = 2, group = 5, head_dim = 4, value_dim = 4, q = <buffer = 0, stride = 40>, k = <buffer = 1, stride = 8>, v = <buffer = 2, stride = 8>>} {
  ^bb0(%a: tensor<3x8x2x5x4xf32>, %b: tensor<3x10x2x4xf32>, %c: tensor<3x10x2x4xf32>, %d: tensor<8xi32>, %e: tensor<10xi32>):
    %out, %lse = par.attention %a, %b, %c positions %d, %e {causal, scale = 0.5, window = 7 : i64}
        : (tensor<3x8x2x5x4xf32>, tensor<3x10x2x4xf32>, tensor<3x10x2x4xf32>, tensor<8xi32>, tensor<10xi32>) -> (tensor<3x8x2x5x4xf32>, tensor<3x2x5x8xf32>)
    rank.yield %out, %lse : tensor<3x8x2x5x4xf32>, tensor<3x2x5x8xf32>
  }
  rank.return
}

// With dropout: its probability and strides, and key, site, row and offsets behind the sinks.
// CHECK-LABEL: llvm.func internal @dropout.rank(
// CHECK-SAME: %[[CONTEXT:[^:]*]]: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %[[Q:[^:]*]]: !llvm.ptr, %[[P:[^:]*]]: !llvm.ptr, %[[KEY:[^:]*]]: !llvm.ptr, %[[SITE:[^:]*]]: !llvm.ptr, %[[ROW:[^:]*]]: !llvm.ptr, %[[OFFSETS:[^:]*]]: !llvm.ptr, %[[OUT:[^:]*]]: !llvm.ptr, %[[LSE:[^:]*]]: !llvm.ptr)
// CHECK: %[[WHAT:.*]] = llvm.alloca %{{.*}} x !llvm.struct
// CHECK: llvm.mlir.constant(0 : i32)
// CHECK-NEXT: llvm.getelementptr %[[WHAT]][0, 9]
// CHECK: llvm.mlir.constant(1.000000e-01 : f32)
// CHECK-NEXT: llvm.getelementptr %[[WHAT]][0, 14]
// CHECK: llvm.mlir.constant(12 : i64)
// CHECK-NEXT: llvm.getelementptr %[[WHAT]][0, 15, 1]
// CHECK: llvm.mlir.constant(1 : i64)
// CHECK-NEXT: llvm.getelementptr %[[WHAT]][0, 15, 4]
// CHECK: llvm.store %[[P]],
// CHECK: llvm.store %[[P]],
// CHECK-COUNT-3: llvm.mlir.zero : !llvm.ptr
// CHECK-NOT: llvm.mlir.zero
// CHECK: llvm.store %[[KEY]],
// CHECK-NEXT: llvm.getelementptr
// CHECK-NEXT: llvm.store %[[SITE]],
// CHECK-NEXT: llvm.getelementptr
// CHECK-NEXT: llvm.store %[[ROW]],
// CHECK-NEXT: llvm.getelementptr
// CHECK-NEXT: llvm.store %[[OFFSETS]],
// CHECK-NEXT: llvm.getelementptr
// CHECK-NEXT: llvm.store %[[OUT]],
rank.func @dropout(%q: !rank.buffer<48>, %p: !rank.buffer<12>, %key: !rank.buffer<8>, %site: !rank.buffer<4>, %row: !rank.buffer<4>, %offsets: !rank.buffer<20>,
                   %o: !rank.buffer<48>, %l: !rank.buffer<12>) attributes {frame = 0 : i64, results = 2 : i64} {
  rank.attention ins(%q, %q, %p, %key, %site, %row, %offsets : !rank.buffer<48>, !rank.buffer<48>, !rank.buffer<12>, !rank.buffer<8>, !rank.buffer<4>, !rank.buffer<4>, !rank.buffer<20>)
                 outs(%o, %l : !rank.buffer<48>, !rank.buffer<12>)
                 attributes {structure = #rank.attention<type = f32, batch = 1, q_rows = 3, k_rows = 3, kv_heads = 1, group = 1, head_dim = 4, value_dim = 4, q = <buffer = 0, stride = 4>, k = <buffer = 1, stride = 4>, v = <buffer = 1, stride = 4>>} {
  ^bb0(%a: tensor<1x3x1x1x4xf32>, %b: tensor<1x3x1x4xf32>, %p_: tensor<3xi32>, %k_: tensor<2xi32>, %s_: tensor<i32>, %r_: tensor<i32>, %o_: tensor<5xi32>):
    %out, %lse = par.attention %a, %b, %b positions %p_, %p_ dropout %k_ site %s_ row %r_ offsets %o_ {dropout = 0.1, scale = 0.5, strides = array<i64: 0, 12, 4, 4, 1>}
        : (tensor<1x3x1x1x4xf32>, tensor<1x3x1x4xf32>, tensor<1x3x1x4xf32>, tensor<3xi32>, tensor<3xi32>, tensor<2xi32>, tensor<i32>, tensor<i32>, tensor<5xi32>)
        -> (tensor<1x3x1x1x4xf32>, tensor<1x1x1x3xf32>)
    rank.yield %out, %lse : tensor<1x3x1x1x4xf32>, tensor<1x1x1x3xf32>
  }
  rank.return
}

// Backward: out, lse and dout behind the common twelve, then dq, dk, dv.
// CHECK-LABEL: llvm.func internal @backward.rank(
// CHECK-SAME: %[[CONTEXT:[^:]*]]: !llvm.ptr, %[[FRAME:[^:]*]]: !llvm.ptr, %[[DOUT:[^:]*]]: !llvm.ptr, %[[Q:[^:]*]]: !llvm.ptr, %[[OUT:[^:]*]]: !llvm.ptr, %[[LSE:[^:]*]]: !llvm.ptr, %[[P:[^:]*]]: !llvm.ptr, %[[DQ:[^:]*]]: !llvm.ptr, %[[DK:[^:]*]]: !llvm.ptr, %[[DV:[^:]*]]: !llvm.ptr)
// CHECK: llvm.store %[[Q]],
// CHECK: llvm.store %[[Q]],
// CHECK: llvm.store %[[Q]],
// CHECK: llvm.store %[[P]],
// CHECK: llvm.store %[[P]],
// CHECK-COUNT-7: llvm.mlir.zero
// CHECK: llvm.store %[[OUT]],
// CHECK: llvm.store %[[LSE]],
// CHECK: llvm.store %[[DOUT]],
// CHECK: llvm.store %[[DQ]],
// CHECK: llvm.store %[[DK]],
// CHECK: llvm.store %[[DV]],
// CHECK: llvm.call @par_attention_backward(%[[CONTEXT]],
rank.func @backward(%dout: !rank.buffer<48>, %q: !rank.buffer<48>, %o: !rank.buffer<48>, %l: !rank.buffer<12>, %p: !rank.buffer<12>,
                    %dq: !rank.buffer<48>, %dk: !rank.buffer<48>, %dv: !rank.buffer<48>) attributes {frame = 0 : i64, results = 3 : i64} {
  rank.attention ins(%dout, %q, %q, %o, %l, %p : !rank.buffer<48>, !rank.buffer<48>, !rank.buffer<48>, !rank.buffer<48>, !rank.buffer<12>, !rank.buffer<12>)
                 outs(%dq, %dk, %dv : !rank.buffer<48>, !rank.buffer<48>, !rank.buffer<48>)
                 attributes {structure = #rank.attention<type = f32, batch = 1, q_rows = 3, k_rows = 3, kv_heads = 1, group = 1, head_dim = 4, value_dim = 4, q = <buffer = 1, stride = 4>, k = <buffer = 2, stride = 4>, v = <buffer = 2, stride = 4>, dq = <buffer = 0, stride = 4>, dk = <buffer = 1, stride = 4>, dv = <buffer = 2, stride = 4>>} {
  ^bb0(%a: tensor<1x3x1x1x4xf32>, %b: tensor<1x3x1x1x4xf32>, %c: tensor<1x3x1x4xf32>, %d: tensor<1x3x1x1x4xf32>, %e: tensor<1x1x1x3xf32>, %f: tensor<3xi32>):
    %0, %1, %2 = par.attention_backward %a, %b, %c, %c, %d, %e positions %f, %f {scale = 0.5}
        : (tensor<1x3x1x1x4xf32>, tensor<1x3x1x1x4xf32>, tensor<1x3x1x4xf32>, tensor<1x3x1x4xf32>, tensor<1x3x1x1x4xf32>, tensor<1x1x1x3xf32>, tensor<3xi32>, tensor<3xi32>)
        -> (tensor<1x3x1x1x4xf32>, tensor<1x3x1x4xf32>, tensor<1x3x1x4xf32>)
    rank.yield %0, %1, %2 : tensor<1x3x1x1x4xf32>, tensor<1x3x1x4xf32>, tensor<1x3x1x4xf32>
  }
  rank.return
}
