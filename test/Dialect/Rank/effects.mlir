// RUN: par-opt %s -cse | FileCheck %s

// Two buffers of one size are two, though nothing tells them apart; a copy whose source was written in between is another copy; and two slots are two.
// CHECK-LABEL: rank.func @two
// CHECK: %[[A:.*]] = rank.alloc workspace
// CHECK: %[[B:.*]] = rank.alloc workspace
// CHECK: rank.copy %{{.*}} to %[[A]]
// CHECK: rank.copy %{{.*}} to %[[B]]
// CHECK: rank.copy %[[A]] to
// CHECK: rank.copy %[[B]] to
rank.func @two(%x: !rank.buffer<64>, %y: !rank.buffer<64>, %z: !rank.buffer<64>) attributes {results = 2 : i64} {
  %a = rank.alloc workspace : !rank.buffer<64>
  %b = rank.alloc workspace : !rank.buffer<64>
  rank.copy %x to %a : !rank.buffer<64>, !rank.buffer<64>
  rank.copy %x to %b : !rank.buffer<64>, !rank.buffer<64>
  rank.copy %a to %y : !rank.buffer<64>, !rank.buffer<64>
  rank.copy %b to %z : !rank.buffer<64>, !rank.buffer<64>
  rank.return
}
// CHECK-LABEL: rank.schedule train
// CHECK-COUNT-2: rank.slot frame "forward" workspace
// CHECK-COUNT-2: rank.action forward
rank.func @forward() attributes {results = 0 : i64} { rank.return }
rank.schedule train {
  %f = rank.slot frame "forward" workspace : !rank.buffer<0>
  %g = rank.slot frame "forward" workspace : !rank.buffer<0>
  rank.action forward @forward frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.action forward @forward frame %g : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.return
}
