// RUN: par-opt %s -rank-plan-memory -verify-diagnostics -o /dev/null

// Places in host memory are given to functions that take turns.
rank.func @layer(%w: !rank.buffer<256>) attributes {results = 1 : i64} {
  %a = rank.alloc workspace : !rank.buffer<256, pinned>
  rank.copy %a to %w : !rank.buffer<256, pinned>, !rank.buffer<256>
  rank.return
}
rank.func @update(%w: !rank.buffer<256>) attributes {results = 1 : i64} {
  %f = rank.alloc workspace : !rank.buffer<0>
  // expected-error @+1 {{rank-plan-memory: calls a function with buffers in host memory; only actions may}}
  rank.call @layer frame %f : !rank.buffer<0> ins() outs(%w : !rank.buffer<256>)
  rank.return
}
