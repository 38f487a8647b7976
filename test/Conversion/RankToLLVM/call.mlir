// RUN: par-opt %s -rank-to-llvm | FileCheck %s --implicit-check-not="rank."

// A copy is a call of the runtime: target before source, as in memcpy.
// CHECK-LABEL: llvm.func internal @copy.rank(
// CHECK-SAME: %[[CONTEXT:[^:]*]]: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %[[X:[^:]*]]: !llvm.ptr, %[[Y:[^:]*]]: !llvm.ptr)
// CHECK-NEXT: %[[BYTES:.*]] = llvm.mlir.constant(32 : i64)
// CHECK-NEXT: llvm.call @par_copy(%[[CONTEXT]], %[[Y]], %[[X]], %[[BYTES]])
// CHECK-NEXT: llvm.return
rank.func @copy(%x: !rank.buffer<32>, %y: !rank.buffer<32>) attributes {frame = 0 : i64, results = 1 : i64} {
  rank.copy %x to %y : !rank.buffer<32>, !rank.buffer<32>
  rank.return
}

// A local buffer is the frame plus its offset, also beyond 32 bits, and holds nothing yet; a callee's frame is such a buffer.
// CHECK-LABEL: llvm.func internal @caller.rank(
// CHECK-SAME: %[[CONTEXT:[^:]*]]: !llvm.ptr, %[[FRAME:[^:]*]]: !llvm.ptr, %[[X:[^:]*]]: !llvm.ptr, %[[Y:[^:]*]]: !llvm.ptr)
// CHECK-NEXT: %[[AT:.*]] = llvm.mlir.constant(5000000000 : i64)
// CHECK-NEXT: %[[H:.*]] = llvm.getelementptr %[[FRAME]][%[[AT]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK-NEXT: %[[BYTES:.*]] = llvm.mlir.constant(32 : i64)
// CHECK-NEXT: llvm.call @par_discard(%[[CONTEXT]], %[[H]], %[[BYTES]])
// CHECK-NEXT: %[[AT:.*]] = llvm.mlir.constant(64 : i64)
// CHECK-NEXT: %[[INNER:.*]] = llvm.getelementptr %[[FRAME]][%[[AT]]]
// CHECK: llvm.call @copy.rank(%[[CONTEXT]], %[[INNER]], %[[X]], %[[H]])
// CHECK-NEXT: llvm.call @copy.rank(%[[CONTEXT]], %[[INNER]], %[[H]], %[[Y]])
rank.func @caller(%x: !rank.buffer<32>, %y: !rank.buffer<32>) attributes {frame = 5000000032 : i64, results = 1 : i64} {
  %h = rank.alloc activations {offset = 5000000000 : i64} : !rank.buffer<32>
  %f = rank.alloc workspace {offset = 64 : i64} : !rank.buffer<0>
  rank.call @copy frame %f : !rank.buffer<0> ins(%x : !rank.buffer<32>) outs(%h : !rank.buffer<32>)
  rank.call @copy frame %f : !rank.buffer<0> ins(%h : !rank.buffer<32>) outs(%y : !rank.buffer<32>)
  rank.return
}

// A loop over parts: what is cut moves on by a part, the rest stays where it is.
// CHECK-LABEL: llvm.func internal @in_parts.rank(
// CHECK-SAME: %[[CONTEXT:[a-z0-9]+]]: !llvm.ptr, %[[FRAME:[a-z0-9]+]]: !llvm.ptr, %[[X:[a-z0-9]+]]: !llvm.ptr, %[[Y:[a-z0-9]+]]: !llvm.ptr)
// CHECK: llvm.br ^[[BODY:.*]](%{{.*}} : i64)
// CHECK: ^[[BODY]](%[[PART:.*]]: i64):
// CHECK: %[[BYTES:.*]] = llvm.mlir.constant(32 : i64)
// CHECK: %[[OFFSET:.*]] = llvm.mul %[[PART]], %[[BYTES]]
// CHECK: %[[HERE:.*]] = llvm.getelementptr %[[X]][%[[OFFSET]]]
// CHECK: llvm.call @copy.rank(%[[CONTEXT]], %{{.*}}, %[[HERE]], %[[Y]])
// CHECK: %[[NEXT:.*]] = llvm.add %[[PART]]
// CHECK: %[[TIMES:.*]] = llvm.mlir.constant(5 : i64)
// CHECK: %[[AGAIN:.*]] = llvm.icmp "slt" %[[NEXT]], %[[TIMES]]
// CHECK: llvm.cond_br %[[AGAIN]], ^[[BODY]](%[[NEXT]] : i64), ^[[END:.*]]
// CHECK: ^[[END]]:
// CHECK: llvm.return
rank.func @in_parts(%x: !rank.buffer<160>, %y: !rank.buffer<32>) attributes {frame = 64 : i64, results = 1 : i64} {
  %f = rank.alloc workspace {offset = 0 : i64} : !rank.buffer<0>
  rank.call @copy frame %f : !rank.buffer<0> ins(%x : !rank.buffer<160>) outs(%y : !rank.buffer<32>) {parts = 5 : i64}
  rank.return
}
