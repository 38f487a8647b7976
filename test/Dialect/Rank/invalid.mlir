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

// -----

// work_c1: the region ends in a yield.
rank.func @terminator(%x: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64} {
  // expected-error @+1 {{work_c1: the region must end in rank.yield}}
  rank.gemm ins(%x : !rank.buffer<64>) outs(%y : !rank.buffer<64>) {
  ^bb0(%t: tensor<16xf32>):
    rank.return
  }
  rank.return
}

// -----

// call_c1: the callee is there, and a rank.func.
func.func private @other()
rank.func @caller(%x: !rank.buffer<64>) attributes {results = 0 : i64} {
  // expected-error @+1 {{call_c1: @other names no rank.func}}
  rank.call @other frame %x() : !rank.buffer<64>
  rank.return
}

// -----

// call_c2: a buffer per argument, with its bytes.
// expected-note @+1 {{the callee}}
rank.func @callee(%x: !rank.buffer<64>, %y: !rank.buffer<32>) attributes {results = 1 : i64} { rank.return }
rank.func @caller(%x: !rank.buffer<64>) attributes {results = 0 : i64} {
  // expected-error @+1 {{call_c2: buffers have the types ('!rank.buffer<64>', '!rank.buffer<64>'), expected those of the arguments, ('!rank.buffer<64>', '!rank.buffer<32>')}}
  rank.call @callee frame %x(%x, %x) : !rank.buffer<64>, !rank.buffer<64>, !rank.buffer<64>
  rank.return
}

// -----

// call_c2: as many parts as calls.
// expected-note @+1 {{the callee}}
rank.func @callee(%x: !rank.buffer<16>, %y: !rank.buffer<32>) attributes {results = 1 : i64} { rank.return }
rank.func @caller(%x: !rank.buffer<64>, %y: !rank.buffer<32>) attributes {results = 0 : i64} {
  // expected-error @+1 {{call_c2: buffers have the types ('!rank.buffer<64>', '!rank.buffer<32>'), expected those of the arguments, ('!rank.buffer<16>', '!rank.buffer<32>'), or 3 such parts}}
  rank.call @callee frame %x(%x, %y) {parts = 3 : i64} : !rank.buffer<64>, !rank.buffer<64>, !rank.buffer<32>
  rank.return
}

// -----

// call_c4: a call runs at least once.
rank.func @callee() attributes {results = 0 : i64} { rank.return }
rank.func @caller(%x: !rank.buffer<64>) attributes {results = 0 : i64} {
  // expected-error @+1 {{call_c4: parts = 0, expected 1 or more}}
  rank.call @callee frame %x() {parts = 0 : i64} : !rank.buffer<64>
  rank.return
}

// -----

// call_c3: a planned frame fits into the buffer that the caller has for it.
rank.func @callee() attributes {frame = 128 : i64, results = 0 : i64} { rank.return }
rank.func @caller(%x: !rank.buffer<64>) attributes {results = 0 : i64} {
  // expected-error @+1 {{call_c3: the frame has 64 bytes, the callee needs 128}}
  rank.call @callee frame %x() : !rank.buffer<64>
  rank.return
}

// -----

// action_c1: the callee is there.
rank.schedule @train {
  %f = rank.slot frame "frame" workspace : !rank.buffer<64>
  // expected-error @+1 {{action_c1: @absent names no rank.func}}
  rank.action "forward" @absent frame %f() {chunk = 0 : i64, micro_batch = 0 : i64} : !rank.buffer<64>
  rank.return
}

// -----

// action_c2: a slot per argument, with its bytes.
// expected-note @+1 {{the callee}}
rank.func @forward(%x: !rank.buffer<64>) attributes {results = 1 : i64} { rank.return }
rank.schedule @train {
  %f = rank.slot frame "frame" workspace : !rank.buffer<64>
  // expected-error @+1 {{action_c2: buffers have the types (), expected those of the arguments, ('!rank.buffer<64>')}}
  rank.action "forward" @forward frame %f() {chunk = 0 : i64, micro_batch = 0 : i64} : !rank.buffer<64>
  rank.return
}

// -----

// action_c3: a planned frame fits into its slot.
rank.func @forward() attributes {frame = 128 : i64, results = 0 : i64} { rank.return }
rank.schedule @train {
  %f = rank.slot frame "frame" workspace : !rank.buffer<64>
  // expected-error @+1 {{action_c3: the frame has 64 bytes, the callee needs 128}}
  rank.action "forward" @forward frame %f() {chunk = 0 : i64, micro_batch = 0 : i64} : !rank.buffer<64>
  rank.return
}

// -----

// action_c4: what an action works on is in the arena's plan.
rank.func @forward() attributes {results = 0 : i64} { rank.return }
rank.schedule @train {
  %f = rank.alloc workspace : !rank.buffer<64>
  // expected-error @+1 {{action_c4: frame and buffers must be slots of the schedule}}
  rank.action "forward" @forward frame %f() {chunk = 0 : i64, micro_batch = 0 : i64} : !rank.buffer<64>
  rank.return
}

// -----

// slot_c1: the tensor fills the slot.
rank.schedule @train {
  // expected-error @+1 {{slot_c1: the buffer has 64 bytes, `tensor` must be a tensor of that size}}
  %x = rank.slot input "tokens" workspace {tensor = tensor<8xi32>} : !rank.buffer<64>
  rank.return
}

// -----

// slot_c1: only a frame has none.
rank.schedule @train {
  // expected-error @+1 {{slot_c1: the buffer has 64 bytes, `tensor` must be a tensor of that size}}
  %x = rank.slot residual "0.0" activations : !rank.buffer<64>
  rank.return
}

// -----

// slot_c2: a constant has a value.
rank.schedule @train {
  // expected-error @+1 {{slot_c2: a constant needs a value}}
  %x = rank.slot constant "beta" workspace {tensor = tensor<f32>} : !rank.buffer<4>
  rank.return
}

// -----

// slot_c4: host memory holds variables only.
rank.schedule @train {
  // expected-error @+1 {{slot_c4: `host` on a slot that is no variable}}
  %x = rank.slot output "loss" workspace {tensor = tensor<f32>, host} : !rank.buffer<4>
  rank.return
}

// -----

// slot_c3: nothing lies before the arena.
rank.schedule @train {
  // expected-error @+1 {{slot_c3: offset -4, expected 0 or more}}
  %x = rank.slot output "loss" workspace {tensor = tensor<f32>, offset = -4 : i64} : !rank.buffer<4>
  rank.return
}

// -----

// expected-error @+1 {{buffer_c1: a buffer of -8 bytes, expected 0 or more}}
rank.func @buffer_c1(%x: !rank.buffer<-8>) attributes {results = 0 : i64} {
  rank.return
}

// -----

// expected-error @+1 {{func_c1: results = 2, expected 0 to the 1 arguments}}
rank.func @func_c1(%x: !rank.buffer<8>) attributes {results = 2 : i64} {
  rank.return
}

// -----

// expected-error @+1 {{func_c2: a frame of -1 bytes, expected 0 or more}}
rank.func @func_c2() attributes {results = 0 : i64, frame = -1 : i64} {
  rank.return
}

// -----

rank.func @alloc_c1_before() attributes {results = 0 : i64, frame = 64 : i64} {
  // expected-error @+1 {{alloc_c1: offset -64, expected 0 or more}}
  %x = rank.alloc activations {offset = -64 : i64} : !rank.buffer<64>
  rank.return
}

// -----

// expected-note @+1 {{the function}}
rank.func @alloc_c1_behind() attributes {results = 0 : i64, frame = 64 : i64} {
  // expected-error @+1 {{alloc_c1: 64 bytes from 4 leave the frame of 64 bytes}}
  %x = rank.alloc activations {offset = 4 : i64} : !rank.buffer<64>
  rank.return
}

// -----

par.mesh @mesh <["dp"=2]>
rank.func @start_c1_never(%x: !rank.buffer<16>, %y: !rank.buffer<16>) attributes {results = 1 : i64} {
  // expected-error @+1 {{start_c1: the event must be used by one rank.wait of the same block and by nothing else}}
  %e = rank.start ins(%x : !rank.buffer<16>) outs(%y : !rank.buffer<16>) {
  ^bb0(%t: tensor<4xf32>):
    %0 = par.all_reduce sum over ["dp"] %t : (tensor<4xf32>) -> tensor<4xf32>
    rank.yield %0 : tensor<4xf32>
  }
  rank.return
}

// -----

par.mesh @mesh <["dp"=2]>
rank.func @start_c1_twice(%x: !rank.buffer<16>, %y: !rank.buffer<16>) attributes {results = 1 : i64} {
  // expected-error @+1 {{start_c1: the event must be used by one rank.wait}}
  %e = rank.start ins(%x : !rank.buffer<16>) outs(%y : !rank.buffer<16>) {
  ^bb0(%t: tensor<4xf32>):
    %0 = par.all_reduce sum over ["dp"] %t : (tensor<4xf32>) -> tensor<4xf32>
    rank.yield %0 : tensor<4xf32>
  }
  rank.wait %e
  rank.wait %e
  rank.return
}

// -----

par.mesh @mesh <["dp"=2]>
rank.func @start_c2_read(%x: !rank.buffer<16>, %y: !rank.buffer<16>, %z: !rank.buffer<16>) attributes {results = 2 : i64} {
  // expected-note @+1 {{started here}}
  %e = rank.start ins(%x : !rank.buffer<16>) outs(%y : !rank.buffer<16>) {
  ^bb0(%t: tensor<4xf32>):
    %0 = par.all_reduce sum over ["dp"] %t : (tensor<4xf32>) -> tensor<4xf32>
    rank.yield %0 : tensor<4xf32>
  }
  // expected-error @+1 {{start_c2: uses what the started op writes before the wait}}
  rank.copy %y to %z : !rank.buffer<16>, !rank.buffer<16>
  rank.wait %e
  rank.return
}

// -----

par.mesh @mesh <["dp"=2]>
rank.func @start_c2_write(%x: !rank.buffer<16>, %y: !rank.buffer<16>, %z: !rank.buffer<16>) attributes {results = 2 : i64} {
  // expected-note @+1 {{started here}}
  %e = rank.start ins(%x : !rank.buffer<16>) outs(%y : !rank.buffer<16>) {
  ^bb0(%t: tensor<4xf32>):
    %0 = par.all_reduce sum over ["dp"] %t : (tensor<4xf32>) -> tensor<4xf32>
    rank.yield %0 : tensor<4xf32>
  }
  // expected-error @+1 {{start_c2: writes what the started op reads before the wait}}
  rank.copy %z to %x : !rank.buffer<16>, !rank.buffer<16>
  rank.wait %e
  rank.return
}

// -----

par.mesh @mesh <["dp"=2]>
rank.func @writes(%a: !rank.buffer<16>, %b: !rank.buffer<16>) attributes {results = 1 : i64} {
  rank.copy %a to %b : !rank.buffer<16>, !rank.buffer<16>
  rank.return
}
rank.func @start_c2_call(%x: !rank.buffer<16>, %y: !rank.buffer<16>, %z: !rank.buffer<16>) attributes {results = 2 : i64} {
  %f = rank.alloc workspace : !rank.buffer<0>
  // expected-note @+1 {{started here}}
  %e = rank.start ins(%x : !rank.buffer<16>) outs(%y : !rank.buffer<16>) {
  ^bb0(%t: tensor<4xf32>):
    %0 = par.all_reduce sum over ["dp"] %t : (tensor<4xf32>) -> tensor<4xf32>
    rank.yield %0 : tensor<4xf32>
  }
  // expected-error @+1 {{start_c2: writes what the started op reads before the wait}}
  rank.call @writes frame %f(%z, %x) : !rank.buffer<0>, !rank.buffer<16>, !rank.buffer<16>
  rank.wait %e
  rank.return
}

// -----

par.mesh @mesh <["dp"=2]>
rank.func @start_c3(%x: !rank.buffer<16>, %y: !rank.buffer<16>) attributes {results = 1 : i64} {
  // expected-error @+1 {{start_c3: the region must hold one collective, or transfer, and its yield}}
  %e = rank.start ins(%x : !rank.buffer<16>) outs(%y : !rank.buffer<16>) {
  ^bb0(%t: tensor<4xf32>):
    rank.yield %t : tensor<4xf32>
  }
  rank.wait %e
  rank.return
}

// -----

par.mesh @mesh <["dp"=2]>
rank.func @wait_c1(%e: !rank.event) attributes {results = 0 : i64} {
  // expected-error @+1 {{wait_c1: the event must be the result of a rank.start of the same block}}
  rank.wait %e
  rank.return
}
