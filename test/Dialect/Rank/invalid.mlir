// RUN: par-opt %s -split-input-file -verify-diagnostics

rank.func @work_c1(%x: !rank.buffer<64>) attributes {results = 0 : i64} {
  // expected-error @below {{work_c1: 1 ins and 0 outs, but 0 block arguments and 0 yielded tensors}}
  rank.kernel ins(%x : !rank.buffer<64>) outs() {
    rank.yield
  }
  rank.return
}

// -----

rank.func @work_c2(%x: !rank.buffer<64>) attributes {results = 0 : i64} {
  // expected-error @below {{work_c2: input 0 has 64 bytes, its tensor 'tensor<4xf32>' has another size}}
  rank.kernel ins(%x : !rank.buffer<64>) outs() {
  ^bb0(%a: tensor<4xf32>):
    rank.yield
  }
  rank.return
}

// -----

rank.func @copy_c1(%x: !rank.buffer<64>, %y: !rank.buffer<32>) attributes {results = 1 : i64} {
  // expected-error @below {{copy_c1: source '!rank.buffer<64>' and target '!rank.buffer<32>' must have equal bytes}}
  rank.copy %x to %y : !rank.buffer<64>, !rank.buffer<32>
  rank.return
}
