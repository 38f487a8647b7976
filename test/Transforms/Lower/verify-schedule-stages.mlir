// RUN: par-opt %s -split-input-file -par-verify-schedule -verify-diagnostics

// Two stages: the first one's activation goes to the second one, and a gradient comes back. Nothing is said.
rank.func @none() attributes {results = 0 : i64} { rank.return }
rank.func @give(%x: !rank.buffer<4>) attributes {results = 0 : i64} { rank.return }
rank.func @take(%x: !rank.buffer<4>) attributes {results = 1 : i64} { rank.return }
rank.func @pass(%x: !rank.buffer<4>, %y: !rank.buffer<4>) attributes {results = 1 : i64} { rank.return }
rank.schedule train stage 0 {
  %x = rank.slot residual "0.0" activations {tensor = tensor<f32>} : !rank.buffer<4>
  %dx = rank.slot residual "0.1" activations {tensor = tensor<f32>} : !rank.buffer<4>
  %f = rank.slot frame "frame" workspace : !rank.buffer<0>
  rank.action forward @take frame %f : !rank.buffer<0> ins() outs(%x : !rank.buffer<4>) {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.exchange send_activation with [1] ins(%x : !rank.buffer<4>) outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.exchange sent_activation with [1] ins(%x : !rank.buffer<4>) outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.exchange receive_gradient with [1] ins() outs(%dx : !rank.buffer<4>) {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.exchange received_gradient with [1] ins() outs(%dx : !rank.buffer<4>) {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.action backward @give frame %f : !rank.buffer<0> ins(%dx : !rank.buffer<4>) outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.return
}
rank.schedule train stage 1 {
  %x = rank.slot residual "1.0" activations {tensor = tensor<f32>} : !rank.buffer<4>
  %dx = rank.slot residual "1.1" activations {tensor = tensor<f32>} : !rank.buffer<4>
  %f = rank.slot frame "frame" workspace : !rank.buffer<0>
  rank.exchange receive_activation with [0] ins() outs(%x : !rank.buffer<4>) {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.exchange received_activation with [0] ins() outs(%x : !rank.buffer<4>) {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.action forward @give frame %f : !rank.buffer<0> ins(%x : !rank.buffer<4>) outs() {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.action backward @pass frame %f : !rank.buffer<0> ins(%x : !rank.buffer<4>) outs(%dx : !rank.buffer<4>) {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.exchange send_gradient with [0] ins(%dx : !rank.buffer<4>) outs() {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.exchange sent_gradient with [0] ins(%dx : !rank.buffer<4>) outs() {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.return
}

// -----

// Each stage waits for what the other one sends later.
rank.func @none() attributes {results = 0 : i64} { rank.return }
rank.schedule train stage 0 {
  %f = rank.slot frame "frame" workspace : !rank.buffer<0>
  rank.action forward @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.exchange receive_gradient with [1] ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  // expected-error @+1 {{stages wait for each other: stage 0 is at RB1 and waits for sB1 of stage 1, stage 1 is at RF1 and waits for sF1 of stage 0}}
  rank.exchange received_gradient with [1] ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  // expected-note @+1 {{this action}}
  rank.exchange send_activation with [1] ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.exchange sent_activation with [1] ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.action backward @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.return
}
rank.schedule train stage 1 {
  %f = rank.slot frame "frame" workspace : !rank.buffer<0>
  rank.exchange receive_activation with [0] ins() outs() {chunk = 1 : i64, micro_batch = 0 : i64}
  // expected-note @+1 {{this action}}
  rank.exchange received_activation with [0] ins() outs() {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.action forward @none frame %f : !rank.buffer<0> ins() outs() {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.action backward @none frame %f : !rank.buffer<0> ins() outs() {chunk = 1 : i64, micro_batch = 0 : i64}
  // expected-note @+1 {{this action}}
  rank.exchange send_gradient with [0] ins() outs() {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.exchange sent_gradient with [0] ins() outs() {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.return
}

// -----

// What is received is not what is sent.
rank.func @none() attributes {results = 0 : i64} { rank.return }
rank.func @give(%x: !rank.buffer<4>) attributes {results = 0 : i64} { rank.return }
rank.func @take(%x: !rank.buffer<8>) attributes {results = 1 : i64} { rank.return }
rank.func @make(%x: !rank.buffer<4>) attributes {results = 1 : i64} { rank.return }
rank.schedule train stage 0 {
  %x = rank.slot residual "0.0" activations {tensor = tensor<f32>} : !rank.buffer<4>
  %f = rank.slot frame "frame" workspace : !rank.buffer<0>
  rank.action forward @make frame %f : !rank.buffer<0> ins() outs(%x : !rank.buffer<4>) {chunk = 0 : i64, micro_batch = 0 : i64}
  // expected-note @+1 {{the other stage}}
  rank.exchange send_activation with [1] ins(%x : !rank.buffer<4>) outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.exchange sent_activation with [1] ins(%x : !rank.buffer<4>) outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.exchange receive_gradient with [1] ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.exchange received_gradient with [1] ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.action backward @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.return
}
rank.schedule train stage 1 {
  %x = rank.slot residual "1.0" activations {tensor = tensor<2xf32>} : !rank.buffer<8>
  %f = rank.slot frame "frame" workspace : !rank.buffer<0>
  // expected-error @+1 {{receives ('tensor<2xf32>'), sent is ('tensor<f32>')}}
  rank.exchange receive_activation with [0] ins() outs(%x : !rank.buffer<8>) {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.exchange received_activation with [0] ins() outs(%x : !rank.buffer<8>) {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.action forward @none frame %f : !rank.buffer<0> ins() outs() {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.action backward @none frame %f : !rank.buffer<0> ins() outs() {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.exchange send_gradient with [0] ins() outs() {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.exchange sent_gradient with [0] ins() outs() {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.return
}

// -----

// A send that nobody receives.
rank.func @none() attributes {results = 0 : i64} { rank.return }
// expected-error @+1 {{chunk 1 does not receive_activation, received_activation, send_gradient, sent_gradient once where that is needed}}
rank.schedule train stage 0 {
  %f = rank.slot frame "frame" workspace : !rank.buffer<0>
  rank.action forward @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.exchange send_activation with [1] ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.exchange sent_activation with [1] ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.exchange receive_gradient with [1] ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.exchange received_gradient with [1] ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.action backward @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.return
}
rank.schedule train stage 1 {
  %f = rank.slot frame "frame" workspace : !rank.buffer<0>
  rank.action forward @none frame %f : !rank.buffer<0> ins() outs() {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.action backward @none frame %f : !rank.buffer<0> ins() outs() {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.return
}

// -----

// A second message overtakes the first one.
rank.func @none() attributes {results = 0 : i64} { rank.return }
rank.schedule eval stage 0 {
  %f = rank.slot frame "frame" workspace : !rank.buffer<0>
  rank.action eval @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  // expected-note @+1 {{this action}}
  rank.exchange send_activation with [1] ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.action eval @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = 1 : i64}
  rank.exchange send_activation with [1] ins() outs() {chunk = 0 : i64, micro_batch = 1 : i64}
  rank.exchange sent_activation with [1] ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.exchange sent_activation with [1] ins() outs() {chunk = 0 : i64, micro_batch = 1 : i64}
  rank.return
}
rank.schedule eval stage 1 {
  %f = rank.slot frame "frame" workspace : !rank.buffer<0>
  // expected-error @+1 {{stage 1 begins rF2 where stage 0 begins sF1: messages from one stage to another are received in the order in which they are sent}}
  rank.exchange receive_activation with [0] ins() outs() {chunk = 1 : i64, micro_batch = 1 : i64}
  rank.exchange receive_activation with [0] ins() outs() {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.exchange received_activation with [0] ins() outs() {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.action eval @none frame %f : !rank.buffer<0> ins() outs() {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.exchange received_activation with [0] ins() outs() {chunk = 1 : i64, micro_batch = 1 : i64}
  rank.action eval @none frame %f : !rank.buffer<0> ins() outs() {chunk = 1 : i64, micro_batch = 1 : i64}
  rank.return
}

// -----

// A message with a stage that does not have the other chunk.
rank.func @none() attributes {results = 0 : i64} { rank.return }
rank.schedule eval stage 0 {
  %f = rank.slot frame "frame" workspace : !rank.buffer<0>
  rank.action eval @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  // expected-error @+1 {{is a message with stage 2, but chunk 1 is on stage 1}}
  rank.exchange send_activation with [2] ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.exchange sent_activation with [1] ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.return
}
rank.schedule eval stage 1 {
  %f = rank.slot frame "frame" workspace : !rank.buffer<0>
  rank.exchange receive_activation with [0] ins() outs() {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.exchange received_activation with [0] ins() outs() {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.action eval @none frame %f : !rank.buffer<0> ins() outs() {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.return
}

// -----

// Two schedules of a stage.
rank.schedule train stage 0 { rank.return }
// expected-error @+1 {{is of stage 0, but the module has 2 schedules to train; expected one of each stage below that}}
rank.schedule train stage 0 { rank.return }

// -----

// A stage that is left out.
// expected-error @+1 {{is of stage 2, but the module has 2 schedules to train; expected one of each stage below that}}
rank.schedule train stage 2 { rank.return }
rank.schedule train stage 0 { rank.return }

// -----

// One for all stages, and one for the first.
rank.schedule train { rank.return }
// expected-error @+1 {{is of stage 0, but the module has 2 schedules to train; expected one of each stage below that}}
rank.schedule train stage 0 { rank.return }

// -----

// A second message begins to land where the first one has landed and is not read yet.
rank.func @none() attributes {results = 0 : i64} { rank.return }
rank.func @give(%x: !rank.buffer<4>) attributes {results = 0 : i64} { rank.return }
rank.func @make(%x: !rank.buffer<4>) attributes {results = 1 : i64} { rank.return }
rank.schedule eval stage 0 {
  %x = rank.slot residual "0.0" activations {tensor = tensor<f32>} : !rank.buffer<4>
  %f = rank.slot frame "frame" workspace : !rank.buffer<0>
  rank.action eval @make frame %f : !rank.buffer<0> ins() outs(%x : !rank.buffer<4>) {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.exchange send_activation with [1] ins(%x : !rank.buffer<4>) outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.exchange sent_activation with [1] ins(%x : !rank.buffer<4>) outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.action eval @make frame %f : !rank.buffer<0> ins() outs(%x : !rank.buffer<4>) {chunk = 0 : i64, micro_batch = 1 : i64}
  rank.exchange send_activation with [1] ins(%x : !rank.buffer<4>) outs() {chunk = 0 : i64, micro_batch = 1 : i64}
  rank.exchange sent_activation with [1] ins(%x : !rank.buffer<4>) outs() {chunk = 0 : i64, micro_batch = 1 : i64}
  rank.return
}
rank.schedule eval stage 1 {
  %x = rank.slot residual "1.0" activations {tensor = tensor<f32>} : !rank.buffer<4>
  %f = rank.slot frame "frame" workspace : !rank.buffer<0>
  rank.exchange receive_activation with [0] ins() outs(%x : !rank.buffer<4>) {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.exchange received_activation with [0] ins() outs(%x : !rank.buffer<4>) {chunk = 1 : i64, micro_batch = 0 : i64}
  // expected-note @+1 {{begun here}}
  rank.exchange receive_activation with [0] ins() outs(%x : !rank.buffer<4>) {chunk = 1 : i64, micro_batch = 1 : i64}
  // expected-error @+1 {{touches residual "1.0", which is being received and is not waited for}}
  rank.action eval @give frame %f : !rank.buffer<0> ins(%x : !rank.buffer<4>) outs() {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.exchange received_activation with [0] ins() outs(%x : !rank.buffer<4>) {chunk = 1 : i64, micro_batch = 1 : i64}
  rank.action eval @give frame %f : !rank.buffer<0> ins(%x : !rank.buffer<4>) outs() {chunk = 1 : i64, micro_batch = 1 : i64}
  rank.return
}
