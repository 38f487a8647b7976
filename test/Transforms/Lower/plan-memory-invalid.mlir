// RUN: par-opt %s -rank-plan-memory -split-input-file -verify-diagnostics -o /dev/null

// Places in host memory are given to functions that take turns.
rank.func @layer(%w: !rank.buffer<256>) attributes {results = 1 : i64} {
  %a = rank.alloc workspace : !rank.buffer<256, pinned>
  rank.copy %a to %w : !rank.buffer<256, pinned>, !rank.buffer<256>
  rank.return
}
rank.func @update(%w: !rank.buffer<256>) attributes {results = 1 : i64} {
  %f = rank.alloc workspace : !rank.buffer<0>
  // expected-error @below {{rank-plan-memory: calls a function with buffers in host memory; only actions may}}
  rank.call @layer frame %f : !rank.buffer<0> ins() outs(%w : !rank.buffer<256>)
  rank.return
}

// -----

// Variables lie where training has them.
// expected-note @below {{the first schedule}}
rank.schedule train {
  %w = rank.slot variable "w" parameters {tensor = tensor<64xf32>} : !rank.buffer<256>
  rank.return
}
rank.schedule eval {
  // expected-error @below {{rank-plan-memory: the first schedule has no }}
  %v = rank.slot variable "v" parameters {tensor = tensor<64xf32>} : !rank.buffer<256>
  rank.return
}

// -----

rank.schedule train {
  // expected-note @below {{there}}
  %w = rank.slot variable "w" parameters {tensor = tensor<64xf32>} : !rank.buffer<256>
  rank.return
}
rank.schedule eval {
  // expected-error @below {{rank-plan-memory: has another type or sharding than in the first schedule}}
  %w = rank.slot variable "w" parameters {tensor = tensor<32xf32>} : !rank.buffer<128>
  rank.return
}
