// RUN: par-opt %s -split-input-file -rank-verify-program -verify-diagnostics

// A program as it should be: nothing is said. @square writes over its input an element at a time, @twice keeps its argument by a copy, and what is started is left alone.
par.mesh @mesh <["dp"=2]>
rank.func @square(%x: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64, frame = 0 : i64, overwrites = array<i64: 0>} {
  rank.kernel ins(%x : !rank.buffer<64>) outs(%y : !rank.buffer<64>) attributes {reads = array<i64: 0>, writes = array<i64: 1>} {
  ^bb0(%t: tensor<16xf32>):
    %0 = arith.mulf %t, %t : tensor<16xf32>
    rank.yield %0 : tensor<16xf32>
  }
  rank.return {values = array<i64: 1>}
}
rank.func @twice(%x: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64, frame = 128 : i64} {
  %a = rank.alloc workspace {offset = 0 : i64} : !rank.buffer<64>
  rank.copy %x to %a {value = 0 : i64} : !rank.buffer<64>, !rank.buffer<64>
  %f = rank.alloc workspace {offset = 64 : i64} : !rank.buffer<0>
  rank.call @square frame %f : !rank.buffer<0> ins(%a : !rank.buffer<64>) outs(%a : !rank.buffer<64>) {reads = array<i64: 0>, writes = array<i64: 1>}
  %b = rank.alloc workspace {offset = 64 : i64} : !rank.buffer<64>
  %e = rank.start ins(%a : !rank.buffer<64>) outs(%b : !rank.buffer<64>) attributes {reads = array<i64: 1>, writes = array<i64: 2>} {
  ^bb0(%t: tensor<16xf32>):
    %0 = par.all_reduce sum over ["dp"] %t : (tensor<16xf32>) -> tensor<16xf32>
    rank.yield %0 : tensor<16xf32>
  }
  rank.wait %e
  rank.copy %b to %y {value = 2 : i64} : !rank.buffer<64>, !rank.buffer<64>
  rank.return {values = array<i64: 2>}
}
rank.schedule train attributes {peak_bytes = 256 : i64} {
  %w = rank.slot variable "w" parameters {offset = 0 : i64, tensor = tensor<16xf32>} : !rank.buffer<64>
  %r = rank.slot residual "0.0" activations {offset = 64 : i64, tensor = tensor<16xf32>} : !rank.buffer<64>
  %f = rank.slot frame "forward" workspace {offset = 128 : i64} : !rank.buffer<128>
  rank.action forward @twice frame %f : !rank.buffer<128> ins(%w : !rank.buffer<64>) outs(%r : !rank.buffer<64>) {chunk = 0 : i64, micro_batch = 0 : i64, reads = array<i64: 0>, writes = array<i64: 3>}
  rank.action update @twice frame %f : !rank.buffer<128> ins(%r : !rank.buffer<64>) outs(%w : !rank.buffer<64>) {chunk = 0 : i64, micro_batch = -1 : i64, reads = array<i64: 3>, writes = array<i64: 4>}
  rank.return {values = array<i64: 4, -1, -1>}
}

// -----

// Overlapping offsets: both buffers are named, and when they live.
rank.func @overlap(%x: !rank.buffer<128>, %y: !rank.buffer<128>, %z: !rank.buffer<128>) attributes {results = 2 : i64, frame = 192 : i64} {
  // expected-note @+1 {{the other has bytes 0 to 128 of the frame from op 0 to 4}}
  %a = rank.alloc workspace {offset = 0 : i64} : !rank.buffer<128>
  rank.copy %x to %a : !rank.buffer<128>, !rank.buffer<128>
  // expected-error @+1 {{rank-verify-program: has bytes 64 to 192 of the frame from op 2 to 5, where another buffer lives}}
  %b = rank.alloc workspace {offset = 64 : i64} : !rank.buffer<128>
  rank.copy %x to %b : !rank.buffer<128>, !rank.buffer<128>
  rank.copy %a to %y : !rank.buffer<128>, !rank.buffer<128>
  rank.copy %b to %z : !rank.buffer<128>, !rank.buffer<128>
  rank.return
}

// -----

// The transport has its buffers up to the wait.
par.mesh @mesh <["dp"=2]>
rank.func @held(%x: !rank.buffer<64>, %y: !rank.buffer<64>, %z: !rank.buffer<64>) attributes {results = 2 : i64, frame = 128 : i64} {
  // expected-note @+1 {{the other has bytes 0 to 64 of the frame from op 0 to 5}}
  %a = rank.alloc communication {offset = 0 : i64} : !rank.buffer<64>
  %e = rank.start ins(%x : !rank.buffer<64>) outs(%a : !rank.buffer<64>) {
  ^bb0(%t: tensor<16xf32>):
    %0 = par.all_reduce sum over ["dp"] %t : (tensor<16xf32>) -> tensor<16xf32>
    rank.yield %0 : tensor<16xf32>
  }
  // expected-error @+1 {{has bytes 0 to 64 of the frame from op 2 to 3, where another buffer lives}}
  %b = rank.alloc workspace {offset = 0 : i64} : !rank.buffer<64>
  rank.copy %x to %b : !rank.buffer<64>, !rank.buffer<64>
  rank.wait %e
  rank.copy %a to %y : !rank.buffer<64>, !rank.buffer<64>
  rank.copy %x to %z : !rank.buffer<64>, !rank.buffer<64>
  rank.return
}

// -----

// A read before a write.
rank.func @unwritten(%x: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64, frame = 64 : i64} {
  // expected-note @+1 {{the buffer}}
  %a = rank.alloc workspace {offset = 0 : i64} : !rank.buffer<64>
  // expected-error @+1 {{rank-verify-program: finds nothing in operand 0, expected value 0}}
  rank.copy %a to %y {value = 0 : i64} : !rank.buffer<64>, !rank.buffer<64>
  // expected-note @+1 {{value 0 is written here}}
  rank.copy %x to %a {value = 0 : i64} : !rank.buffer<64>, !rank.buffer<64>
  rank.return {values = array<i64: 0>}
}

// -----

// The value is there, but a later one: the op that put it there is named too.
// expected-note @+1 {{the buffer}}
rank.func @order(%x: !rank.buffer<64>, %y: !rank.buffer<64>, %z: !rank.buffer<64>) attributes {results = 2 : i64, frame = 64 : i64, overwrites = array<i64: 0, -1>} {
  // expected-note @+1 {{written here last}}
  rank.kernel ins(%x : !rank.buffer<64>) outs(%x : !rank.buffer<64>) attributes {reads = array<i64: 0>, writes = array<i64: 1>} {
  ^bb0(%t: tensor<16xf32>):
    %0 = arith.mulf %t, %t : tensor<16xf32>
    rank.yield %0 : tensor<16xf32>
  }
  // expected-error @+1 {{finds value 1 in operand 0, expected value 0}}
  rank.copy %x to %z {value = 0 : i64} : !rank.buffer<64>, !rank.buffer<64>
  rank.return {values = array<i64: 1, 0>}
}

// -----

// A missing wait: the result is read as the argument whose memory it has.
par.mesh @mesh <["dp"=2]>
rank.func @early(%x: !rank.buffer<64>, %y: !rank.buffer<64>, %z: !rank.buffer<64>) attributes {results = 2 : i64, frame = 0 : i64, overwrites = array<i64: 0, -1>} {
  // expected-note @+1 {{started here}}
  %e = rank.start ins(%x : !rank.buffer<64>) outs(%x : !rank.buffer<64>) attributes {reads = array<i64: 0>, writes = array<i64: 1>} {
  ^bb0(%t: tensor<16xf32>):
    %0 = par.all_reduce sum over ["dp"] %t : (tensor<16xf32>) -> tensor<16xf32>
    rank.yield %0 : tensor<16xf32>
  }
  // expected-error @+1 {{reads operand 0, which is written by what was started and not waited for}}
  rank.copy %y to %z {value = 1 : i64} : !rank.buffer<64>, !rank.buffer<64>
  // expected-note @+1 {{waited for here}}
  rank.wait %e
  rank.return {values = array<i64: 1, 1>}
}

// -----

// A result that is not there at the end.
// expected-note @+1 {{the buffer}}
rank.func @lost(%x: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64, frame = 0 : i64} {
  // expected-error @+1 {{finds nothing in what is given back 0, expected value 0}}
  rank.return {values = array<i64: 0>}
}

// -----

// An argument that callers still need.
// expected-note @+1 {{the function}}
rank.func @argument(%x: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64, frame = 0 : i64} {
  // expected-error @+1 {{writes argument 0, which no result overwrites}}
  rank.kernel ins(%x : !rank.buffer<64>) outs(%x : !rank.buffer<64>) {
  ^bb0(%t: tensor<16xf32>):
    %0 = arith.mulf %t, %t : tensor<16xf32>
    rank.yield %0 : tensor<16xf32>
  }
  rank.copy %x to %y : !rank.buffer<64>, !rank.buffer<64>
  rank.return
}

// -----

// A product writes all of its result while it reads.
rank.func @alias(%x: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64, frame = 64 : i64} {
  // expected-note @+1 {{the buffer}}
  %a = rank.alloc workspace {offset = 0 : i64} : !rank.buffer<64>
  rank.copy %x to %a : !rank.buffer<64>, !rank.buffer<64>
  // expected-error @+1 {{writes over input 0, of which it may read more then}}
  rank.gemm ins(%a : !rank.buffer<64>) outs(%a : !rank.buffer<64>) attributes {products = [#rank.product<a = 0, b = 0, c = 0, from = f32, to = f32, m = 4, n = 4, k = 4, lda = 4, ldb = 4, ldc = 4>]} {
  ^bb0(%t: tensor<4x4xf32>):
    %0 = par.einsum "ik,kj->ij"(%t, %t) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    rank.yield %0 : tensor<4x4xf32>
  }
  rank.copy %a to %y : !rank.buffer<64>, !rank.buffer<64>
  rank.return
}

// -----

rank.func @two(%x: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64, frame = 0 : i64} {
  // expected-error @+1 {{writes two values to one buffer}}
  rank.kernel ins(%x : !rank.buffer<64>) outs(%y, %y : !rank.buffer<64>, !rank.buffer<64>) {
  ^bb0(%t: tensor<16xf32>):
    %0 = arith.mulf %t, %t : tensor<16xf32>
    rank.yield %t, %0 : tensor<16xf32>, tensor<16xf32>
  }
  rank.return
}

// -----

rank.func @itself(%x: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64, frame = 0 : i64} {
  rank.copy %x to %y : !rank.buffer<64>, !rank.buffer<64>
  // expected-error @+1 {{copies a buffer to itself}}
  rank.copy %y to %y : !rank.buffer<64>, !rank.buffer<64>
  rank.return
}

// -----

// A callee that works in place is given one buffer.
// expected-note @+1 {{the callee}}
rank.func @inplace(%x: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64, frame = 0 : i64, overwrites = array<i64: 0>} { rank.return }
rank.func @apart(%x: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64, frame = 0 : i64} {
  %f = rank.alloc workspace {offset = 0 : i64} : !rank.buffer<0>
  // expected-error @+1 {{gives result 0 another buffer than argument 0, which it overwrites}}
  rank.call @inplace frame %f : !rank.buffer<0> ins(%x : !rank.buffer<64>) outs(%y : !rank.buffer<64>)
  rank.return
}

// -----

// One that does not is given two.
rank.func @outplace(%x: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64, frame = 0 : i64} {
  rank.copy %x to %y : !rank.buffer<64>, !rank.buffer<64>
  rank.return
}
// expected-note @+1 {{the buffer}}
rank.func @together(%x: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64, frame = 0 : i64, overwrites = array<i64: 0>} {
  %f = rank.alloc workspace {offset = 0 : i64} : !rank.buffer<0>
  // expected-error @+1 {{writes over input 0, of which it may read more then}}
  rank.call @outplace frame %f : !rank.buffer<0> ins(%x : !rank.buffer<64>) outs(%y : !rank.buffer<64>)
  rank.return
}

// -----

// A result of every part that is no sum.
rank.func @part(%x: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64, frame = 0 : i64} {
  rank.copy %x to %y : !rank.buffer<64>, !rank.buffer<64>
  rank.return
}
rank.func @parts(%x: !rank.buffer<256>, %y: !rank.buffer<64>) attributes {results = 1 : i64, frame = 0 : i64} {
  %f = rank.alloc workspace {offset = 0 : i64} : !rank.buffer<0>
  // expected-error @+1 {{gives every call the same buffer for result 0, which overwrites no argument: only the last call's would remain}}
  rank.call @part frame %f : !rank.buffer<0> ins(%x : !rank.buffer<256>) outs(%y : !rank.buffer<64>) {parts = 4 : i64}
  rank.return
}

// -----

rank.func @unplanned(%x: !rank.buffer<64>) attributes {results = 0 : i64} {
  // expected-error @+1 {{has no offset; run rank-plan-memory}}
  %a = rank.alloc workspace : !rank.buffer<64>
  rank.return
}

// -----

rank.func @unaligned(%x: !rank.buffer<64>) attributes {results = 0 : i64, frame = 100 : i64} {
  // expected-error @+1 {{offset 36 in the frame, expected a multiple of 64}}
  %a = rank.alloc workspace {offset = 36 : i64} : !rank.buffer<64>
  rank.return
}

// -----

// expected-note @+1 {{the size is said here}}
rank.func @frameless(%x: !rank.buffer<64>) attributes {results = 0 : i64} {
  // expected-error @+1 {{bytes 0 to 64 of the frame, which has no size; run rank-plan-memory}}
  %a = rank.alloc workspace {offset = 0 : i64} : !rank.buffer<64>
  rank.return
}

// -----

// A residual that is freed too early: the frame of the action that reads it lies over it.
rank.func @step(%x: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64, frame = 64 : i64} {
  rank.copy %x to %y {value = 0 : i64} : !rank.buffer<64>, !rank.buffer<64>
  rank.return {values = array<i64: 0>}
}
rank.schedule train attributes {peak_bytes = 256 : i64} {
  %w = rank.slot variable "w" parameters {offset = 0 : i64, tensor = tensor<16xf32>} : !rank.buffer<64>
  // expected-note @+1 {{the other has bytes 64 to 128 of the arena from entry 0 to 1}}
  %r = rank.slot residual "0.0" activations {offset = 64 : i64, tensor = tensor<16xf32>} : !rank.buffer<64>
  %f = rank.slot frame "forward" workspace {offset = 128 : i64} : !rank.buffer<64>
  // expected-error @+1 {{has bytes 64 to 128 of the arena from entry 1 to 1, where another buffer lives}}
  %b = rank.slot frame "backward" workspace {offset = 64 : i64} : !rank.buffer<64>
  rank.action forward @step frame %f : !rank.buffer<64> ins(%w : !rank.buffer<64>) outs(%r : !rank.buffer<64>) {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.action backward @step frame %b : !rank.buffer<64> ins(%r : !rank.buffer<64>) outs(%w : !rank.buffer<64>) {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.return
}

// -----

// A backward that runs before its forward.
rank.func @step(%x: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64, frame = 0 : i64} {
  rank.copy %x to %y {value = 0 : i64} : !rank.buffer<64>, !rank.buffer<64>
  rank.return {values = array<i64: 0>}
}
rank.schedule train attributes {peak_bytes = 192 : i64} {
  %w = rank.slot variable "w" parameters {offset = 0 : i64, tensor = tensor<16xf32>} : !rank.buffer<64>
  // expected-note @+1 {{the buffer}}
  %r = rank.slot residual "0.0" activations {offset = 64 : i64, tensor = tensor<16xf32>} : !rank.buffer<64>
  %f = rank.slot frame "forward" workspace {offset = 128 : i64} : !rank.buffer<0>
  // expected-error @+1 {{finds nothing in operand 1, expected value 3}}
  rank.action backward @step frame %f : !rank.buffer<0> ins(%r : !rank.buffer<64>) outs(%w : !rank.buffer<64>) {chunk = 0 : i64, micro_batch = 0 : i64, reads = array<i64: 3>, writes = array<i64: 4>}
  // expected-note @+1 {{value 3 is written here}}
  rank.action forward @step frame %f : !rank.buffer<0> ins(%w : !rank.buffer<64>) outs(%r : !rank.buffer<64>) {chunk = 0 : i64, micro_batch = 0 : i64, reads = array<i64: 0>, writes = array<i64: 3>}
  rank.return {values = array<i64: 4, -1, -1>}
}

// -----

// Another schedule that has a variable elsewhere.
rank.schedule train attributes {peak_bytes = 64 : i64} {
  // expected-note @+1 {{there}}
  %w = rank.slot variable "w" parameters {offset = 0 : i64, tensor = tensor<16xf32>} : !rank.buffer<64>
  rank.return
}
rank.schedule eval attributes {peak_bytes = 128 : i64} {
  // expected-error @+1 {{'!rank.buffer<64>' at 64, but another schedule has '!rank.buffer<64>' at 0}}
  %w = rank.slot variable "w" parameters {offset = 64 : i64, tensor = tensor<16xf32>} : !rank.buffer<64>
  rank.return
}

// -----

// Another schedule that works where the state lies that it does not know.
rank.func @nothing() attributes {results = 0 : i64, frame = 64 : i64} { rank.return }
rank.schedule train attributes {peak_bytes = 64 : i64} {
  // expected-note @+1 {{the other has bytes 0 to 64 of the arena from entry 0 to 1}}
  %m = rank.slot variable "m" optimizer {offset = 0 : i64, tensor = tensor<16xf32>} : !rank.buffer<64>
  rank.return
}
rank.schedule eval attributes {peak_bytes = 64 : i64} {
  // expected-error @+1 {{has bytes 0 to 64 of the arena from entry 0 to 0, where another buffer lives}}
  %f = rank.slot frame "eval" workspace {offset = 0 : i64} : !rank.buffer<64>
  rank.action eval @nothing frame %f : !rank.buffer<64> ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.return
}

// -----

// A function whose pinned buffers lie over offloaded state.
// expected-error @+1 {{has bytes 0 to 64 of pinned memory from entry 0 to 0, where another buffer lives}}
rank.func @update(%m: !rank.buffer<64, pinned>) attributes {results = 0 : i64, frame = 0 : i64} {
  %a = rank.alloc workspace {offset = 0 : i64} : !rank.buffer<64, pinned>
  rank.copy %m to %a : !rank.buffer<64, pinned>, !rank.buffer<64, pinned>
  rank.return
}
rank.schedule train attributes {peak_bytes = 0 : i64, host_peak_bytes = 64 : i64} {
  // expected-note @+1 {{the other has bytes 0 to 64 of pinned memory from entry 0 to 1}}
  %m = rank.slot variable "m" optimizer {offset = 0 : i64, tensor = tensor<16xf32>} : !rank.buffer<64, pinned>
  %f = rank.slot frame "update" workspace {offset = 0 : i64} : !rank.buffer<0>
  rank.action update @update frame %f : !rank.buffer<0> ins(%m : !rank.buffer<64, pinned>) outs() {chunk = 0 : i64, micro_batch = -1 : i64}
  rank.return
}

// -----

rank.func @layer() attributes {results = 0 : i64, frame = 0 : i64} {
  // expected-note @+1 {{the buffer}}
  %a = rank.alloc workspace {offset = 0 : i64} : !rank.buffer<64, pinned>
  rank.return
}
rank.func @update() attributes {results = 0 : i64, frame = 0 : i64} {
  %f = rank.alloc workspace {offset = 0 : i64} : !rank.buffer<0>
  // expected-error @+1 {{calls a function with pinned buffers, which only actions may: theirs lie at one place}}
  rank.call @layer frame %f : !rank.buffer<0> ins() outs()
  rank.return
}

// -----

// State that is not what the runtime is to find.
rank.func @none() attributes {results = 0 : i64, frame = 0 : i64} { rank.return }
rank.schedule train attributes {peak_bytes = 64 : i64} {
  // expected-note @+2 {{written here last}}
  // expected-note @+1 {{the buffer}}
  %w = rank.slot variable "w" parameters {offset = 0 : i64, tensor = tensor<16xf32>} : !rank.buffer<64>
  // expected-error @+1 {{finds value 0 in what is given back 0, expected value 1}}
  rank.return {values = array<i64: 1>}
}

// -----

rank.func @count(%x: !rank.buffer<64>) attributes {results = 0 : i64, frame = 0 : i64} {
  // expected-error @+1 {{says the values of 1 buffers, expected 0}}
  rank.return {values = array<i64: 1>}
}

// -----

// GELU's input is read beside the product: when, the library does not say.
// expected-note @+1 {{the buffer}}
rank.func @gradient(%x: !rank.buffer<64>, %w: !rank.buffer<256>, %t: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64, frame = 0 : i64, overwrites = array<i64: 2>} {
  // expected-error @+1 {{writes over input 2, of which it may read more then}}
  rank.gemm ins(%x, %w, %t : !rank.buffer<64>, !rank.buffer<256>, !rank.buffer<64>) outs(%y : !rank.buffer<64>) attributes {reads = array<i64: 0, 1, 2>, writes = array<i64: 3>, products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 2, n = 8, k = 8, lda = 8, ldb = 8, ldc = 8, epilogue = gelu_gradient, aux = 2>]} {
  ^bb0(%tx: tensor<2x8xf32>, %tw: tensor<8x8xf32>, %tt: tensor<2x8xf32>):
    %0 = par.einsum "ik,kj->ij"(%tx, %tw) : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %gx2 = arith.mulf %tt, %tt : tensor<2x8xf32>
  %gx3 = arith.mulf %gx2, %tt : tensor<2x8xf32>
  %gc = arith.constant dense<4.471500e-02> : tensor<2x8xf32>
  %g0 = arith.mulf %gx3, %gc : tensor<2x8xf32>
  %g1 = arith.addf %tt, %g0 : tensor<2x8xf32>
  %gs = arith.constant dense<0.797884583> : tensor<2x8xf32>
  %g2 = arith.mulf %g1, %gs : tensor<2x8xf32>
  %gt = math.tanh %g2 : tensor<2x8xf32>
  %gh = arith.constant dense<5.000000e-01> : tensor<2x8xf32>
  %g3 = arith.mulf %tt, %gh : tensor<2x8xf32>
  %gi = arith.constant dense<1.000000e+00> : tensor<2x8xf32>
  %g4 = arith.addf %gt, %gi : tensor<2x8xf32>
  %g5 = arith.mulf %0, %g4 : tensor<2x8xf32>
  %g6 = arith.mulf %0, %g3 : tensor<2x8xf32>
  %g7 = arith.mulf %g5, %gh : tensor<2x8xf32>
  %g8 = arith.mulf %gt, %gt : tensor<2x8xf32>
  %g9 = arith.subf %gi, %g8 : tensor<2x8xf32>
  %g10 = arith.mulf %g6, %g9 : tensor<2x8xf32>
  %g11 = arith.mulf %g10, %gs : tensor<2x8xf32>
  %g12 = arith.addf %g7, %g11 : tensor<2x8xf32>
  %g13 = arith.mulf %g11, %gc : tensor<2x8xf32>
  %g14 = arith.constant dense<3.000000e+00> : tensor<2x8xf32>
  %g15 = arith.mulf %g13, %g14 : tensor<2x8xf32>
  %g16 = arith.mulf %g15, %gx2 : tensor<2x8xf32>
  %g17 = arith.addf %g12, %g16 : tensor<2x8xf32>
    rank.yield %g17 : tensor<2x8xf32>
  }
  rank.return {values = array<i64: 3>}
}
