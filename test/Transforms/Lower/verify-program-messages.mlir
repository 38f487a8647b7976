// RUN: par-opt %s -split-input-file -rank-verify-program -verify-diagnostics

// What is received may be read when it was waited for; what is sent, at any time. Nothing is said.
rank.func @use(%x: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64, frame = 0 : i64} {
  rank.copy %x to %y : !rank.buffer<64>, !rank.buffer<64>
  rank.return
}
rank.schedule train stage 1 attributes {peak_bytes = 128 : i64} {
  %x = rank.slot residual "activation 0.0" activations {offset = 0 : i64, tensor = tensor<16xf32>} : !rank.buffer<64>
  %y = rank.slot residual "gradient 0.0" activations {offset = 64 : i64, tensor = tensor<16xf32>} : !rank.buffer<64>
  %f = rank.slot frame "f" workspace {offset = 0 : i64} : !rank.buffer<0>
  rank.exchange receive_activation with [0] ins() outs(%x : !rank.buffer<64>) {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.exchange received_activation with [0] ins() outs(%x : !rank.buffer<64>) {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.action backward @use frame %f : !rank.buffer<0> ins(%x : !rank.buffer<64>) outs(%y : !rank.buffer<64>) {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.exchange send_gradient with [0] ins(%y : !rank.buffer<64>) outs() {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.exchange sent_gradient with [0] ins(%y : !rank.buffer<64>) outs() {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.return
}

// -----

rank.func @use(%x: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64, frame = 0 : i64} {
  rank.copy %x to %y : !rank.buffer<64>, !rank.buffer<64>
  rank.return
}
rank.schedule train stage 1 attributes {peak_bytes = 128 : i64} {
  %x = rank.slot residual "activation 0.0" activations {offset = 0 : i64, tensor = tensor<16xf32>} : !rank.buffer<64>
  %y = rank.slot residual "gradient 0.0" activations {offset = 64 : i64, tensor = tensor<16xf32>} : !rank.buffer<64>
  %f = rank.slot frame "f" workspace {offset = 0 : i64} : !rank.buffer<0>
  // expected-note @+1 {{started here}}
  rank.exchange receive_activation with [0] ins() outs(%x : !rank.buffer<64>) {chunk = 1 : i64, micro_batch = 0 : i64}
  // expected-error @+1 {{reads operand 1, which is written by what was started and not waited for}}
  rank.action backward @use frame %f : !rank.buffer<0> ins(%x : !rank.buffer<64>) outs(%y : !rank.buffer<64>) {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.exchange received_activation with [0] ins() outs(%x : !rank.buffer<64>) {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.return
}

// -----

rank.schedule train stage 1 attributes {peak_bytes = 128 : i64} {
  %x = rank.slot residual "activation 0.0" activations {offset = 0 : i64, tensor = tensor<16xf32>} : !rank.buffer<64>
  %y = rank.slot residual "activation 0.0.1" activations {offset = 64 : i64, tensor = tensor<16xf32>} : !rank.buffer<64>
  // expected-note @+1 {{begun here}}
  rank.exchange receive_activation with [0] ins() outs(%x : !rank.buffer<64>) {chunk = 1 : i64, micro_batch = 0 : i64}
  // expected-error @+1 {{waits for a message with other buffers than it began with}}
  rank.exchange received_activation with [0] ins() outs(%y : !rank.buffer<64>) {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.return
}

// -----

// At run time a wait ends the oldest message of its kind.
rank.schedule train stage 1 attributes {peak_bytes = 128 : i64} {
  %x = rank.slot residual "activation 0.0" activations {offset = 0 : i64, tensor = tensor<16xf32>} : !rank.buffer<64>
  %y = rank.slot residual "activation 0.0.1" activations {offset = 64 : i64, tensor = tensor<16xf32>} : !rank.buffer<64>
  // expected-note @+1 {{begun here}}
  rank.exchange receive_activation with [0] ins() outs(%x : !rank.buffer<64>) {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.exchange receive_activation with [0] ins() outs(%y : !rank.buffer<64>) {chunk = 1 : i64, micro_batch = 1 : i64}
  // expected-error @+1 {{waits for a message of micro-batch 1, but the oldest of its kind under way, which a wait ends, is of micro-batch 0}}
  rank.exchange received_activation with [0] ins() outs(%y : !rank.buffer<64>) {chunk = 1 : i64, micro_batch = 1 : i64}
  rank.return
}

// -----

rank.schedule train stage 1 attributes {peak_bytes = 128 : i64} {
  %x = rank.slot residual "activation 0.0" activations {offset = 0 : i64, tensor = tensor<16xf32>} : !rank.buffer<64>
  // expected-error @+1 {{waits for a message that has not begun}}
  rank.exchange received_activation with [0] ins() outs(%x : !rank.buffer<64>) {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.return
}

// -----

rank.schedule train stage 1 attributes {peak_bytes = 128 : i64} {
  %x = rank.slot residual "activation 0.0" activations {offset = 0 : i64, tensor = tensor<16xf32>} : !rank.buffer<64>
  // expected-error @+1 {{begins a message that is never waited for}}
  rank.exchange receive_activation with [0] ins() outs(%x : !rank.buffer<64>) {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.return
}
