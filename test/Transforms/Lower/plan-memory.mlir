// RUN: par-opt %s -split-input-file -rank-plan-memory | FileCheck %s

// %a and %c are never live together and share bytes; %b is live with both.
// CHECK-LABEL: rank.func @share
// CHECK-SAME: frame = 512 : i64
// CHECK: rank.alloc{{ +}}workspace {offset = 0 : i64} : <256>
// CHECK: rank.alloc{{ +}}workspace {offset = 256 : i64} : <256>
// CHECK: rank.alloc{{ +}}workspace {offset = 0 : i64} : <256>
rank.func @share(%x: !rank.buffer<256>, %y: !rank.buffer<256>) attributes {results = 1 : i64} {
  %a = rank.alloc workspace : !rank.buffer<256>
  rank.copy %x to %a : !rank.buffer<256>, !rank.buffer<256>
  %b = rank.alloc workspace : !rank.buffer<256>
  rank.copy %a to %b : !rank.buffer<256>, !rank.buffer<256>
  %c = rank.alloc workspace : !rank.buffer<256>
  rank.copy %b to %c : !rank.buffer<256>, !rank.buffer<256>
  rank.copy %c to %y : !rank.buffer<256>, !rank.buffer<256>
  rank.return
}

// A callee's frame lives during its call only: both calls use the same bytes, beside what is live then.
// CHECK-LABEL: rank.func @twice
// CHECK-SAME: frame = 768 : i64
// CHECK: %[[H:.*]] = rank.alloc{{ +}}activations {offset = 512 : i64} : <256>
// CHECK: %[[F:.*]] = rank.alloc{{ +}}workspace {offset = 0 : i64} : <512>
// CHECK: %[[G:.*]] = rank.alloc{{ +}}workspace {offset = 0 : i64} : <512>
rank.func @twice(%x: !rank.buffer<256>, %y: !rank.buffer<256>) attributes {results = 1 : i64} {
  %h = rank.alloc activations : !rank.buffer<256>
  %f = rank.alloc workspace : !rank.buffer<0>
  rank.call @share frame %f : !rank.buffer<0> ins(%x : !rank.buffer<256>) outs(%h : !rank.buffer<256>)
  %g = rank.alloc workspace : !rank.buffer<0>
  rank.call @share frame %g : !rank.buffer<0> ins(%h : !rank.buffer<256>) outs(%y : !rank.buffer<256>)
  rank.return
}

// What the runtime knows lies at the bottom at multiples of 64; the peak is the end of the highest buffer. Category
// maxima count what lives inside callees too: 512 of frames and 4 of the constant.
// CHECK-LABEL: rank.schedule train
// CHECK-SAME: arena_bytes = {activations = 512 : i64, {{.*}}parameters = 256 : i64, workspace = 516 : i64}
// CHECK-SAME: lower_bound = 1344 : i64, peak_bytes = 1344 : i64
// CHECK: rank.slot{{ +}}constant {{.*}}offset = 0
// CHECK: rank.slot{{ +}}variable {{.*}}offset = 64
// CHECK: rank.slot{{ +}}residual {{.*}}offset = 1088
// CHECK: rank.slot{{ +}}frame {{.*}}offset = 320 : i64} : <768>
rank.schedule train {
  %one = rank.slot constant "beta" workspace {tensor = tensor<f32>, value = 1.0 : f32} : !rank.buffer<4>
  %w = rank.slot variable "w" parameters {tensor = tensor<64xf32>} : !rank.buffer<256>
  %r = rank.slot residual "0.0" activations {tensor = tensor<64xf32>} : !rank.buffer<256>
  %f = rank.slot frame "forward" workspace : !rank.buffer<0>
  rank.action forward @twice frame %f : !rank.buffer<0> ins(%w : !rank.buffer<256>) outs(%r : !rank.buffer<256>) {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.return
}

// -----

rank.func @forward(%w: !rank.buffer<256>, %r: !rank.buffer<256>) attributes {results = 1 : i64} {
  rank.copy %w to %r : !rank.buffer<256>, !rank.buffer<256>
  rank.return
}
rank.func @backward(%r: !rank.buffer<256>, %g: !rank.buffer<256>) attributes {results = 1 : i64} {
  %a = rank.alloc workspace : !rank.buffer<256>
  rank.copy %r to %a : !rank.buffer<256>, !rank.buffer<256>
  rank.copy %a to %g : !rank.buffer<256>, !rank.buffer<256>
  rank.return
}

// A residual lives until the backward has read it: the backward's frame lies beside it, the next micro-batch's residual in its place.
// CHECK-LABEL: rank.schedule train
// CHECK-SAME: lower_bound = 1024 : i64, peak_bytes = 1024 : i64
// CHECK: rank.slot{{ +}}residual "0.0" {{.*}}offset = 512
// CHECK: rank.slot{{ +}}frame "backward" {{.*}}offset = 768
// CHECK: rank.slot{{ +}}residual "0.1" {{.*}}offset = 512
// CHECK: rank.slot{{ +}}frame "backward" {{.*}}offset = 768
rank.schedule train {
  %w = rank.slot variable "w" parameters {tensor = tensor<64xf32>} : !rank.buffer<256>
  %g = rank.slot variable "g" gradients {tensor = tensor<64xf32>} : !rank.buffer<256>
  %r0 = rank.slot residual "0.0" activations {tensor = tensor<64xf32>} : !rank.buffer<256>
  %f0 = rank.slot frame "forward" workspace : !rank.buffer<0>
  %b0 = rank.slot frame "backward" workspace : !rank.buffer<0>
  %r1 = rank.slot residual "0.1" activations {tensor = tensor<64xf32>} : !rank.buffer<256>
  %f1 = rank.slot frame "forward" workspace : !rank.buffer<0>
  %b1 = rank.slot frame "backward" workspace : !rank.buffer<0>
  rank.action forward @forward frame %f0 : !rank.buffer<0> ins(%w : !rank.buffer<256>) outs(%r0 : !rank.buffer<256>) {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.action backward @backward frame %b0 : !rank.buffer<0> ins(%r0 : !rank.buffer<256>) outs(%g : !rank.buffer<256>) {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.action forward @forward frame %f1 : !rank.buffer<0> ins(%w : !rank.buffer<256>) outs(%r1 : !rank.buffer<256>) {chunk = 0 : i64, micro_batch = 1 : i64}
  rank.action backward @backward frame %b1 : !rank.buffer<0> ins(%r1 : !rank.buffer<256>) outs(%g : !rank.buffer<256>) {chunk = 0 : i64, micro_batch = 1 : i64}
  rank.return
}

// -----

// Variables in host memory have offsets of their own, and no byte of the arena.
rank.func @update(%w: !rank.buffer<256>, %m: !rank.buffer<256, pinned>, %v: !rank.buffer<256, pinned>) attributes {results = 2 : i64} {
  rank.copy %w to %m : !rank.buffer<256>, !rank.buffer<256, pinned>
  rank.copy %w to %v : !rank.buffer<256>, !rank.buffer<256, pinned>
  rank.return
}
// CHECK-LABEL: rank.schedule train
// CHECK-SAME: arena_bytes = {{{.*}}optimizer = 0 : i64
// CHECK-SAME: host_peak_bytes = 512 : i64
// CHECK-SAME: peak_bytes = 256 : i64
// CHECK: rank.slot{{ +}}variable "w" {{.*}}offset = 0 : i64
// CHECK: rank.slot{{ +}}variable "m" {{.*}}offset = 0 : i64{{.*}}<256, pinned>
// CHECK: rank.slot{{ +}}variable "v" {{.*}}offset = 256 : i64{{.*}}<256, pinned>
rank.schedule train {
  %w = rank.slot variable "w" parameters {tensor = tensor<64xf32>} : !rank.buffer<256>
  %m = rank.slot variable "m" optimizer {tensor = tensor<64xf32>} : !rank.buffer<256, pinned>
  %v = rank.slot variable "v" optimizer {tensor = tensor<64xf32>} : !rank.buffer<256, pinned>
  %f = rank.slot frame "update" workspace : !rank.buffer<0>
  rank.action update @update frame %f : !rank.buffer<0> ins(%w : !rank.buffer<256>) outs(%m, %v : !rank.buffer<256, pinned>, !rank.buffer<256, pinned>) {chunk = 0 : i64, micro_batch = -1 : i64}
  rank.return
}

// -----

// Buffers in host memory lie above the variables there, by lifetime; functions that take turns share the place.
// CHECK-LABEL: rank.func @first
// CHECK-SAME: frame = 256 : i64
// CHECK: rank.alloc workspace {offset = 256 : i64} : <256, pinned>
// CHECK: rank.alloc workspace {offset = 512 : i64} : <256, pinned>
// CHECK: rank.alloc workspace {offset = 0 : i64}
rank.func @first(%w: !rank.buffer<256>, %m: !rank.buffer<256, pinned>) attributes {results = 1 : i64} {
  %a = rank.alloc workspace : !rank.buffer<256, pinned>
  %b = rank.alloc workspace : !rank.buffer<256, pinned>
  %c = rank.alloc workspace : !rank.buffer<256>
  rank.copy %w to %a : !rank.buffer<256>, !rank.buffer<256, pinned>
  rank.copy %a to %b : !rank.buffer<256, pinned>, !rank.buffer<256, pinned>
  rank.copy %b to %c : !rank.buffer<256, pinned>, !rank.buffer<256>
  rank.copy %c to %m : !rank.buffer<256>, !rank.buffer<256, pinned>
  rank.return
}
// CHECK-LABEL: rank.func @second
// CHECK: rank.alloc workspace {offset = 256 : i64} : <256, pinned>
rank.func @second(%w: !rank.buffer<256>, %m: !rank.buffer<256, pinned>) attributes {results = 1 : i64} {
  %a = rank.alloc workspace : !rank.buffer<256, pinned>
  rank.copy %w to %a : !rank.buffer<256>, !rank.buffer<256, pinned>
  rank.copy %a to %m : !rank.buffer<256, pinned>, !rank.buffer<256, pinned>
  rank.return
}
// CHECK-LABEL: rank.schedule train
// CHECK-SAME: host_peak_bytes = 768 : i64
rank.schedule train {
  %w = rank.slot variable "w" parameters {tensor = tensor<64xf32>} : !rank.buffer<256>
  %m = rank.slot variable "m" optimizer {tensor = tensor<64xf32>} : !rank.buffer<256, pinned>
  %f = rank.slot frame "first" workspace : !rank.buffer<0>
  %g = rank.slot frame "second" workspace : !rank.buffer<0>
  rank.action update @first frame %f : !rank.buffer<0> ins(%w : !rank.buffer<256>) outs(%m : !rank.buffer<256, pinned>) {chunk = 0 : i64, micro_batch = -1 : i64}
  rank.action update @second frame %g : !rank.buffer<0> ins(%w : !rank.buffer<256>) outs(%m : !rank.buffer<256, pinned>) {chunk = 0 : i64, micro_batch = -1 : i64}
  rank.return
}
