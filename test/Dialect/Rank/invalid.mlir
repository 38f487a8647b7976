// RUN: par-opt %s -split-input-file -verify-diagnostics

// rank_work_c1: a block argument per input.
rank.func @arguments(%x: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64} {
  // expected-error @+1 {{rank_work_c1: 2 ins and 1 outs, but 1 block arguments and 1 yielded tensors}}
  rank.kernel ins(%x, %x : !rank.buffer<64>, !rank.buffer<64>) outs(%y : !rank.buffer<64>) {
  ^bb0(%t: tensor<16xf32>):
    rank.yield %t : tensor<16xf32>
  }
  rank.return
}

// -----

// rank_work_c2: the input's tensor fills its buffer.
rank.func @input(%x: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64} {
  // expected-error @+1 {{rank_work_c2: input 0 has 64 bytes, its tensor 'tensor<8xf32>' has another size}}
  rank.kernel ins(%x : !rank.buffer<64>) outs(%y : !rank.buffer<64>) {
  ^bb0(%t: tensor<8xf32>):
    %0 = par.expand %t dims [0] : tensor<8xf32> -> tensor<2x8xf32>
    rank.yield %0 : tensor<2x8xf32>
  }
  rank.return
}

// -----

// rank_work_c2: so does the output's.
rank.func @output(%x: !rank.buffer<64>, %y: !rank.buffer<128>) attributes {results = 1 : i64} {
  // expected-error @+1 {{rank_work_c2: output 0 has 128 bytes, its tensor 'tensor<16xf32>' has another size}}
  rank.kernel ins(%x : !rank.buffer<64>) outs(%y : !rank.buffer<128>) {
  ^bb0(%t: tensor<16xf32>):
    rank.yield %t : tensor<16xf32>
  }
  rank.return
}

// -----

// rank_copy_c1: equal bytes.
rank.func @copy(%x: !rank.buffer<64>, %y: !rank.buffer<128>) attributes {results = 1 : i64} {
  // expected-error @+1 {{rank_copy_c1: source '!rank.buffer<64>' and target '!rank.buffer<128>' must have equal bytes}}
  rank.copy %x to %y : !rank.buffer<64>, !rank.buffer<128>
  rank.return
}

// -----

// rank_work_c1: the region ends in a yield.
rank.func @terminator(%x: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64} {
  // expected-error @+1 {{rank_work_c1: the region must end in rank.yield}}
  rank.gemm ins(%x : !rank.buffer<64>) outs(%y : !rank.buffer<64>) attributes {products = []} {
  ^bb0(%t: tensor<16xf32>):
    rank.return
  }
  rank.return
}

// -----

// rank_call_c1: the callee is there, and a rank.func.
func.func private @other()
rank.func @caller(%x: !rank.buffer<64>) attributes {results = 0 : i64} {
  // expected-error @+1 {{rank_call_c1: @other names no rank.func}}
  rank.call @other frame %x : !rank.buffer<64> ins() outs()
  rank.return
}

// -----

// rank_call_c2: a buffer per argument, with its bytes.
// expected-note @+1 {{the callee}}
rank.func @callee(%x: !rank.buffer<64>, %y: !rank.buffer<32>) attributes {results = 1 : i64} { rank.return }
rank.func @caller(%x: !rank.buffer<64>) attributes {results = 0 : i64} {
  // expected-error @+1 {{rank_call_c2: buffers have the types ('!rank.buffer<64>', '!rank.buffer<64>'), expected those of the arguments, ('!rank.buffer<64>', '!rank.buffer<32>')}}
  rank.call @callee frame %x : !rank.buffer<64> ins(%x : !rank.buffer<64>) outs(%x : !rank.buffer<64>)
  rank.return
}

// -----

// rank_call_c2: as many parts as calls.
// expected-note @+1 {{the callee}}
rank.func @callee(%x: !rank.buffer<16>, %y: !rank.buffer<32>) attributes {results = 1 : i64} { rank.return }
rank.func @caller(%x: !rank.buffer<64>, %y: !rank.buffer<32>) attributes {results = 0 : i64} {
  // expected-error @+1 {{rank_call_c2: buffers have the types ('!rank.buffer<64>', '!rank.buffer<32>'), expected those of the arguments, ('!rank.buffer<16>', '!rank.buffer<32>'), or 3 such parts}}
  rank.call @callee frame %x : !rank.buffer<64> ins(%x : !rank.buffer<64>) outs(%y : !rank.buffer<32>) {parts = 3 : i64}
  rank.return
}

// -----

// rank_call_c4: a call runs at least once.
rank.func @callee() attributes {results = 0 : i64} { rank.return }
rank.func @caller(%x: !rank.buffer<64>) attributes {results = 0 : i64} {
  // expected-error @+1 {{rank_call_c4: parts = 0, expected 1 or more}}
  rank.call @callee frame %x : !rank.buffer<64> ins() outs() {parts = 0 : i64}
  rank.return
}

// -----

// rank_call_c5: the callee's results are the outs.
rank.func @callee(%x: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64} { rank.return }
rank.func @caller(%x: !rank.buffer<64>, %f: !rank.buffer<0>) attributes {results = 0 : i64} {
  // expected-error @+1 {{rank_call_c5: 0 outs, but the callee has 1 results}}
  rank.call @callee frame %f : !rank.buffer<0> ins(%x, %x : !rank.buffer<64>, !rank.buffer<64>) outs()
  rank.return
}

// -----

// rank_call_c6: a number per buffer.
rank.func @callee(%x: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64} { rank.return }
rank.func @caller(%x: !rank.buffer<64>, %y: !rank.buffer<64>, %f: !rank.buffer<0>) attributes {results = 0 : i64} {
  // expected-error @+1 {{rank_call_c6: `writes` has 2 numbers, expected one for each of the 1 buffers}}
  rank.call @callee frame %f : !rank.buffer<0> ins(%x : !rank.buffer<64>) outs(%y : !rank.buffer<64>) {reads = array<i64: 0>, writes = array<i64: 1, 2>}
  rank.return
}

// -----

// rank_call_c2: of the memory that the callee works in.
// expected-note @+1 {{the callee}}
rank.func @callee(%x: !rank.buffer<64>) attributes {results = 0 : i64} { rank.return }
rank.func @caller(%x: !rank.buffer<64, pinned>, %f: !rank.buffer<0>) attributes {results = 0 : i64} {
  // expected-error @+1 {{rank_call_c2: buffers have the types ('!rank.buffer<64, pinned>'), expected those of the arguments, ('!rank.buffer<64>')}}
  rank.call @callee frame %f : !rank.buffer<0> ins(%x : !rank.buffer<64, pinned>) outs()
  rank.return
}

// -----

// rank_call_c3: frames are of the device.
rank.func @callee() attributes {results = 0 : i64} { rank.return }
rank.func @caller(%f: !rank.buffer<64, pinned>) attributes {results = 0 : i64} {
  // expected-error @+1 {{rank_call_c3: the frame is of '!rank.buffer<64, pinned>', expected memory of the device}}
  rank.call @callee frame %f : !rank.buffer<64, pinned> ins() outs()
  rank.return
}

// -----

// rank_call_c3: a planned frame fits into the buffer that the caller has for it.
rank.func @callee() attributes {frame = 128 : i64, results = 0 : i64} { rank.return }
rank.func @caller(%x: !rank.buffer<64>) attributes {results = 0 : i64} {
  // expected-error @+1 {{rank_call_c3: the frame has 64 bytes, the callee needs 128}}
  rank.call @callee frame %x : !rank.buffer<64> ins() outs()
  rank.return
}

// -----

// rank_action_c1: the callee is there.
rank.schedule train {
  %f = rank.slot frame "frame" workspace : !rank.buffer<64>
  // expected-error @+1 {{rank_action_c1: @absent names no rank.func}}
  rank.action forward @absent frame %f : !rank.buffer<64> ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.return
}

// -----

// rank_action_c2: a slot per argument, with its bytes.
// expected-note @+1 {{the callee}}
rank.func @forward(%x: !rank.buffer<64>) attributes {results = 1 : i64} { rank.return }
rank.schedule train {
  %f = rank.slot frame "frame" workspace : !rank.buffer<64>
  // expected-error @+1 {{rank_action_c2: buffers have the types (), expected those of the arguments, ('!rank.buffer<64>')}}
  rank.action forward @forward frame %f : !rank.buffer<64> ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.return
}

// -----

// rank_action_c3: a planned frame fits into its slot.
rank.func @forward() attributes {frame = 128 : i64, results = 0 : i64} { rank.return }
rank.schedule train {
  %f = rank.slot frame "frame" workspace : !rank.buffer<64>
  // expected-error @+1 {{rank_action_c3: the frame has 64 bytes, the callee needs 128}}
  rank.action forward @forward frame %f : !rank.buffer<64> ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.return
}

// -----

// rank_action_c4: what an action works on is in the arena's plan.
rank.func @forward() attributes {results = 0 : i64} { rank.return }
rank.schedule train {
  %f = rank.alloc workspace : !rank.buffer<64>
  // expected-error @+1 {{rank_action_c4: frame and buffers must be slots of the schedule}}
  rank.action forward @forward frame %f : !rank.buffer<64> ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.return
}

// -----

// rank_action_c5: the callee's results are the outs.
rank.func @forward(%x: !rank.buffer<4>) attributes {results = 1 : i64} { rank.return }
rank.schedule train {
  %f = rank.slot frame "frame" workspace : !rank.buffer<64>
  %x = rank.slot output "loss" workspace {tensor = tensor<f32>} : !rank.buffer<4>
  // expected-error @+1 {{rank_action_c5: 0 outs, but the callee has 1 results}}
  rank.action forward @forward frame %f : !rank.buffer<64> ins(%x : !rank.buffer<4>) outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.return
}

// -----

// rank_action_c6: a number per buffer.
rank.func @forward(%x: !rank.buffer<4>) attributes {results = 1 : i64} { rank.return }
rank.schedule train {
  %f = rank.slot frame "frame" workspace : !rank.buffer<64>
  %x = rank.slot output "loss" workspace {tensor = tensor<f32>} : !rank.buffer<4>
  // expected-error @+1 {{rank_action_c6: `reads` has 1 numbers, expected one for each of the 0 buffers}}
  rank.action forward @forward frame %f : !rank.buffer<64> ins() outs(%x : !rank.buffer<4>) {chunk = 0 : i64, micro_batch = 0 : i64, reads = array<i64: 0>}
  rank.return
}

// -----

// rank_slot_c1: the tensor fills the slot.
rank.schedule train {
  // expected-error @+1 {{rank_slot_c1: the buffer has 64 bytes, `tensor` must be a tensor of that size}}
  %x = rank.slot input "tokens" workspace {tensor = tensor<8xi32>} : !rank.buffer<64>
  rank.return
}

// -----

// rank_slot_c1: only a frame has none.
rank.schedule train {
  // expected-error @+1 {{rank_slot_c1: the buffer has 64 bytes, `tensor` must be a tensor of that size}}
  %x = rank.slot residual "0.0" activations : !rank.buffer<64>
  rank.return
}

// -----

// rank_slot_c2: a constant has a value of its elements' type.
rank.schedule train {
  // expected-error @+1 {{rank_slot_c2: a constant of 'tensor<f32>' needs a value of its elements, f32 or i32}}
  %x = rank.slot constant "beta" workspace {tensor = tensor<f32>} : !rank.buffer<4>
  rank.return
}

// -----

rank.schedule train {
  // expected-error @+1 {{rank_slot_c2: a constant of 'tensor<8xi32>' needs a value of its elements, f32 or i32}}
  %x = rank.slot constant "constant" workspace {tensor = tensor<8xi32>, value = 1.0 : f32} : !rank.buffer<32>
  rank.return
}

// -----

// rank_slot_c4: pinned memory holds variables only.
rank.schedule train {
  // expected-error @+1 {{rank_slot_c4: a slot of pinned memory, expected the device's; variables may be pinned}}
  %x = rank.slot output "loss" workspace {tensor = tensor<f32>} : !rank.buffer<4, pinned>
  rank.return
}

// -----

// rank_slot_c5: how an input is split is a sharding.
rank.schedule train {
  // expected-error @+1 {{rank_slot_c5: `sharding` is "dp", expected a #par.sharding}}
  %x = rank.slot output "loss" workspace {tensor = tensor<f32>, sharding = "dp"} : !rank.buffer<4>
  rank.return
}

// -----

// rank_slot_c6: what the runtime gives and takes is known by its place, not by any name.
rank.schedule train {
  // expected-error @+1 {{rank_slot_c6: "token" is no input of #par.place}}
  %x = rank.slot input "token" workspace {tensor = tensor<1xi32>} : !rank.buffer<4>
  rank.return
}

// -----

rank.schedule train {
  // expected-error @+1 {{rank_slot_c6: "logit" is no output of #par.place}}
  %x = rank.slot output "logit" workspace {tensor = tensor<f32>} : !rank.buffer<4>
  rank.return
}

// -----

rank.schedule train {
  // expected-error @+1 {{rank_slot_c6: "los" is no output of #par.place}}
  %x = rank.slot variable "loss" workspace {tensor = tensor<f32>, output = "los"} : !rank.buffer<4>
  rank.return
}

// -----

// rank_slot_c7: who fills an input that #par.place knows is known.
rank.schedule train {
  // expected-error @+1 {{rank_slot_c7: "tokens" has the reader "rows", which only an open input has}}
  %x = rank.slot input "tokens" workspace {tensor = tensor<1xi32>, reader = "rows"} : !rank.buffer<4>
  rank.return
}

// -----

rank.schedule train {
  // expected-error @+1 {{rank_slot_c7: "x" has the reader "rows", which only an open input has}}
  %x = rank.slot output "x" workspace {tensor = tensor<f32>, reader = "rows"} : !rank.buffer<4>
  rank.return
}

// -----

// rank_slot_c3: nothing lies before the arena.
rank.schedule train {
  // expected-error @+1 {{rank_slot_c3: offset -4, expected 0 or more}}
  %x = rank.slot output "loss" workspace {tensor = tensor<f32>, offset = -4 : i64} : !rank.buffer<4>
  rank.return
}

// -----

// expected-error @+1 {{rank_buffer_c1: a buffer of -8 bytes, expected 0 or more}}
rank.func @buffer_c1(%x: !rank.buffer<-8>) attributes {results = 0 : i64} {
  rank.return
}

// -----

// expected-error @+1 {{rank_func_c1: results = 2, expected 0 to the 1 arguments}}
rank.func @func_c1(%x: !rank.buffer<8>) attributes {results = 2 : i64} {
  rank.return
}

// -----

// expected-error @+1 {{rank_func_c2: a frame of -1 bytes, expected 0 or more}}
rank.func @func_c2() attributes {results = 0 : i64, frame = -1 : i64} {
  rank.return
}

// -----

// expected-error @+1 {{rank_func_c3: `overwrites` has 2 entries, expected one for each of the 1 results}}
rank.func @func_c3_entries(%x: !rank.buffer<8>, %y: !rank.buffer<8>) attributes {results = 1 : i64, overwrites = array<i64: 0, 0>} {
  rank.return
}

// -----

// expected-error @+1 {{rank_func_c3: result 0 overwrites argument 0, expected -1 or one of the first 1 arguments that has the result's type}}
rank.func @func_c3_type(%x: !rank.buffer<8>, %y: !rank.buffer<16>) attributes {results = 1 : i64, overwrites = array<i64: 0>} {
  rank.return
}

// -----

rank.func @alloc_c2() attributes {results = 0 : i64} {
  // expected-error @+1 {{rank_alloc_c2: '!rank.buffer<64, host>' is of memory in which a rank has no arena, expected device or pinned memory}}
  %x = rank.alloc activations : !rank.buffer<64, host>
  rank.return
}

// -----

// A kernel of the device that is given host memory.
// expected-note @+1 {{the buffer of other memory}}
rank.func @work_c4(%x: !rank.buffer<64>, %m: !rank.buffer<64, pinned>) attributes {results = 1 : i64} {
  // expected-error @+1 {{rank_work_c4: buffers of '!rank.buffer<64>' and of '!rank.buffer<64, pinned>', expected all of one memory; a transfer brings what lies in another}}
  rank.kernel ins(%x : !rank.buffer<64>) outs(%m : !rank.buffer<64, pinned>) {
  ^bb0(%t: tensor<16xf32>):
    %0 = math.tanh %t : tensor<16xf32>
    rank.yield %0 : tensor<16xf32>
  }
  rank.return
}

// -----

rank.func @work_c3(%x: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64} {
  // expected-error @+1 {{rank_work_c3: `reads` has 2 numbers, expected one for each of the 1 buffers}}
  rank.kernel ins(%x : !rank.buffer<64>) outs(%y : !rank.buffer<64>) attributes {reads = array<i64: 0, 1>} {
  ^bb0(%t: tensor<16xf32>):
    rank.yield %t : tensor<16xf32>
  }
  rank.return
}

// -----

// What only the host reaches is not copied beside computation.
rank.func @start_c4(%x: !rank.buffer<64, host>, %y: !rank.buffer<64>) attributes {results = 1 : i64} {
  // expected-error @+1 {{rank_start_c4: a transfer from '!rank.buffer<64, host>' to '!rank.buffer<64>', expected one from the device to pinned memory or back}}
  %e = rank.start ins(%x : !rank.buffer<64, host>) outs(%y : !rank.buffer<64>) {
  ^bb0(%t: tensor<16xf32>):
    %0 = par.transfer %t to <device> : tensor<16xf32>
    rank.yield %0 : tensor<16xf32>
  }
  rank.wait %e
  rank.return
}

// -----

rank.func @alloc_c1_before() attributes {results = 0 : i64, frame = 64 : i64} {
  // expected-error @+1 {{rank_alloc_c1: offset -64, expected 0 or more}}
  %x = rank.alloc activations {offset = -64 : i64} : !rank.buffer<64>
  rank.return
}

// -----

// expected-note @+1 {{the function}}
rank.func @alloc_c1_behind() attributes {results = 0 : i64, frame = 64 : i64} {
  // expected-error @+1 {{rank_alloc_c1: 64 bytes from 4 leave the frame of 64 bytes}}
  %x = rank.alloc activations {offset = 4 : i64} : !rank.buffer<64>
  rank.return
}

// -----

par.mesh @mesh <["dp"=2]>
rank.func @start_c1_never(%x: !rank.buffer<16>, %y: !rank.buffer<16>) attributes {results = 1 : i64} {
  // expected-error @+1 {{rank_start_c1: the event must be used by one rank.wait of the same block and by nothing else}}
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
  // expected-error @+1 {{rank_start_c1: the event must be used by one rank.wait}}
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
  // expected-error @+1 {{rank_start_c2: uses what the started op writes before the wait}}
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
  // expected-error @+1 {{rank_start_c2: writes what the started op reads before the wait}}
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
  // expected-error @+1 {{rank_start_c2: writes what the started op reads before the wait}}
  rank.call @writes frame %f : !rank.buffer<0> ins(%z : !rank.buffer<16>) outs(%x : !rank.buffer<16>)
  rank.wait %e
  rank.return
}

// -----

par.mesh @mesh <["dp"=2]>
rank.func @start_c3(%x: !rank.buffer<16>, %y: !rank.buffer<16>) attributes {results = 1 : i64} {
  // expected-error @+1 {{rank_start_c3: the region must hold one collective, or transfer, and its yield}}
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
  // expected-error @+1 {{rank_wait_c1: the event must be the result of a rank.start of the same block}}
  rank.wait %e
  rank.return
}

// -----

rank.func @none() attributes {results = 0 : i64} { rank.return }
rank.schedule train stage 0 {
  %f = rank.slot frame "f" workspace : !rank.buffer<0>
  // expected-error @+1 {{rank_action_c7: send_activation runs no function; write rank.exchange}}
  rank.action send_activation @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.return
}

// -----

rank.schedule train stage 0 {
  %x = rank.slot residual "x" activations {tensor = tensor<4xf32>} : !rank.buffer<16>
  // expected-error @+1 {{rank_exchange_c1: forward is neither part of a message nor a sum; write rank.action}}
  rank.exchange forward with [1] ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.return
}

// -----

rank.func @exchange_c2(%x: !rank.buffer<16>) attributes {results = 0 : i64} {
  // expected-error @+1 {{rank_exchange_c2: buffers must be slots of the schedule}}
  rank.exchange send_activation with [1] ins(%x : !rank.buffer<16>) outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.return
}

// -----

rank.schedule train stage 0 {
  %x = rank.slot residual "x" activations {tensor = tensor<4xf32>} : !rank.buffer<16>
  // expected-error @+1 {{rank_exchange_c3: 0 ins and 1 outs, expected ins only}}
  rank.exchange send_activation with [1] ins() outs(%x : !rank.buffer<16>) {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.return
}

// -----

rank.schedule train stage 0 {
  %x = rank.slot residual "x" activations {tensor = tensor<4xf32>} : !rank.buffer<16>
  // expected-error @+1 {{rank_exchange_c3: 1 ins and 0 outs, expected the same buffers as both}}
  rank.exchange sum_squares with [0, 1] ins(%x : !rank.buffer<16>) outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.return
}

// -----

rank.schedule train stage 1 {
  %x = rank.slot residual "x" activations {tensor = tensor<4xf32>} : !rank.buffer<16>
  // expected-error @+1 {{rank_exchange_c4: with [1] on stage 1, expected one other stage}}
  rank.exchange receive_activation with [1] ins() outs(%x : !rank.buffer<16>) {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.return
}

// -----

rank.schedule train stage 1 {
  %x = rank.slot residual "x" activations {tensor = tensor<4xf32>} : !rank.buffer<16>
  // expected-error @+1 {{rank_exchange_c4: with [2, 1] on stage 1, expected several stages in ascending order, this one among them}}
  rank.exchange sum_squares with [2, 1] ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.return
}

// -----

rank.schedule train stage 0 {
  %x = rank.slot residual "x" activations {tensor = tensor<4xf32>} : !rank.buffer<16>
  // expected-error @+1 {{rank_exchange_c5: `reads` has 2 numbers, expected one for each of the 1 buffers}}
  rank.exchange send_activation with [1] ins(%x : !rank.buffer<16>) outs() {chunk = 0 : i64, micro_batch = 0 : i64, reads = array<i64: 0, 1>}
  rank.return
}
