// RUN: par-opt %s -split-input-file -verify-diagnostics

// work_c1: a block argument per input.
rank.func @arguments(%x: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64} {
  // expected-error @+1 {{work_c1: 2 ins and 1 outs, but 1 block arguments and 1 yielded tensors}}
  rank.kernel ins(%x, %x : !rank.buffer<64>, !rank.buffer<64>) outs(%y : !rank.buffer<64>) {
  ^bb0(%t: tensor<16xf32>):
    rank.yield %t : tensor<16xf32>
  }
  rank.return
}

// -----

// work_c2: the input's tensor fills its buffer.
rank.func @input(%x: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64} {
  // expected-error @+1 {{work_c2: input 0 has 64 bytes, its tensor 'tensor<8xf32>' has another size}}
  rank.kernel ins(%x : !rank.buffer<64>) outs(%y : !rank.buffer<64>) {
  ^bb0(%t: tensor<8xf32>):
    %0 = par.expand %t dims [0] : tensor<8xf32> -> tensor<2x8xf32>
    rank.yield %0 : tensor<2x8xf32>
  }
  rank.return
}

// -----

// work_c2: so does the output's.
rank.func @output(%x: !rank.buffer<64>, %y: !rank.buffer<128>) attributes {results = 1 : i64} {
  // expected-error @+1 {{work_c2: output 0 has 128 bytes, its tensor 'tensor<16xf32>' has another size}}
  rank.kernel ins(%x : !rank.buffer<64>) outs(%y : !rank.buffer<128>) {
  ^bb0(%t: tensor<16xf32>):
    rank.yield %t : tensor<16xf32>
  }
  rank.return
}

// -----

// copy_c1: equal bytes.
rank.func @copy(%x: !rank.buffer<64>, %y: !rank.buffer<128>) attributes {results = 1 : i64} {
  // expected-error @+1 {{copy_c1: source '!rank.buffer<64>' and target '!rank.buffer<128>' must have equal bytes}}
  rank.copy %x to %y : !rank.buffer<64>, !rank.buffer<128>
  rank.return
}
