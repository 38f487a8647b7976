// RUN: par-opt %s -split-input-file -par-verify-schedule -verify-diagnostics

// Two micro-batches in flight, in slots of their own, and an evaluation: nothing is said.
rank.func @none() attributes {results = 0 : i64} { rank.return }
rank.func @save(%r: !rank.buffer<4>) attributes {results = 1 : i64} { rank.return }
rank.func @load(%r: !rank.buffer<4>) attributes {results = 0 : i64} { rank.return }
rank.schedule train {
  %a = rank.slot residual "0.0" activations {tensor = tensor<f32>} : !rank.buffer<4>
  %b = rank.slot residual "0.0.1" activations {tensor = tensor<f32>} : !rank.buffer<4>
  %f = rank.slot frame "frame" workspace : !rank.buffer<0>
  rank.action forward @save frame %f : !rank.buffer<0> ins() outs(%a : !rank.buffer<4>) {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.action forward @save frame %f : !rank.buffer<0> ins() outs(%b : !rank.buffer<4>) {chunk = 0 : i64, micro_batch = 1 : i64}
  rank.action backward @load frame %f : !rank.buffer<0> ins(%b : !rank.buffer<4>) outs() {chunk = 0 : i64, micro_batch = 1 : i64}
  rank.action backward_last @load frame %f : !rank.buffer<0> ins(%a : !rank.buffer<4>) outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.action norm @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = -1 : i64}
  rank.action update @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = -1 : i64}
  rank.return
}
rank.schedule eval {
  %f = rank.slot frame "frame" workspace : !rank.buffer<0>
  rank.action eval @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.action eval @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = 1 : i64}
  rank.return
}

// -----

// A micro-batch in flight is written over.
rank.func @save(%r: !rank.buffer<4>) attributes {results = 1 : i64} { rank.return }
rank.func @load(%r: !rank.buffer<4>) attributes {results = 0 : i64} { rank.return }
rank.schedule train {
  %a = rank.slot residual "0.0" activations {tensor = tensor<f32>} : !rank.buffer<4>
  %f = rank.slot frame "frame" workspace : !rank.buffer<0>
  rank.action forward @save frame %f : !rank.buffer<0> ins() outs(%a : !rank.buffer<4>) {chunk = 0 : i64, micro_batch = 0 : i64}
  // expected-note @+1 {{here}}
  rank.action forward @save frame %f : !rank.buffer<0> ins() outs(%a : !rank.buffer<4>) {chunk = 0 : i64, micro_batch = 1 : i64}
  // expected-error @+1 {{reads residual "0.0" of micro-batch 0, but micro-batch 1 has been written over it}}
  rank.action backward @load frame %f : !rank.buffer<0> ins(%a : !rank.buffer<4>) outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.action backward @load frame %f : !rank.buffer<0> ins(%a : !rank.buffer<4>) outs() {chunk = 0 : i64, micro_batch = 1 : i64}
  rank.return
}

// -----

// A residual that nothing has written.
rank.func @none() attributes {results = 0 : i64} { rank.return }
rank.func @load(%r: !rank.buffer<4>) attributes {results = 0 : i64} { rank.return }
rank.schedule train {
  %a = rank.slot residual "0.0" activations {tensor = tensor<f32>} : !rank.buffer<4>
  %f = rank.slot frame "frame" workspace : !rank.buffer<0>
  rank.action forward @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  // expected-error @+1 {{reads residual "0.0", which no action before it has written}}
  rank.action backward @load frame %f : !rank.buffer<0> ins(%a : !rank.buffer<4>) outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.return
}

// -----

// Backward before its forward, with a note at what is too late.
rank.func @none() attributes {results = 0 : i64} { rank.return }
rank.schedule train {
  %f = rank.slot frame "frame" workspace : !rank.buffer<0>
  // expected-error @+1 {{stages wait for each other: stage 0 is at B1 and waits for F1 of stage 0}}
  rank.action backward @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  // expected-note @+1 {{this action}}
  rank.action forward @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.return
}

// -----

// Updated before gradients are reduced: the norm waits.
rank.func @none() attributes {results = 0 : i64} { rank.return }
rank.schedule train {
  %f = rank.slot frame "frame" workspace : !rank.buffer<0>
  rank.action forward @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.action backward @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  // expected-error @+1 {{stage 0 is at N and waits for R of stage 0}}
  rank.action norm @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = -1 : i64}
  rank.action update @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = -1 : i64}
  // expected-note @+1 {{this action}}
  rank.action reduce @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = -1 : i64}
  rank.return
}

// -----

// Twice.
rank.func @none() attributes {results = 0 : i64} { rank.return }
rank.schedule train {
  %f = rank.slot frame "frame" workspace : !rank.buffer<0>
  rank.action forward @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  // expected-error @+1 {{stage 0 has F1 twice}}
  rank.action forward @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.action backward @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.return
}

// -----

// Left out: the backward of a micro-batch.
rank.func @none() attributes {results = 0 : i64} { rank.return }
// expected-error @+1 {{chunk 0 does not go through micro-batch 2 forward and back}}
rank.schedule train {
  %f = rank.slot frame "frame" workspace : !rank.buffer<0>
  rank.action forward @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.action backward @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.action forward @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = 1 : i64}
  rank.return
}

// -----

// Left out: a whole micro-batch of the plan.
module attributes {par.plan = #par.plan<micro_batches = 2>} {
  rank.func @none() attributes {results = 0 : i64} { rank.return }
  // expected-error @+1 {{chunk 0 does not go through micro-batch 2 forward and back}}
  rank.schedule train {
    %f = rank.slot frame "frame" workspace : !rank.buffer<0>
    rank.action forward @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
    rank.action backward @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
    rank.return
  }
}

// -----

// Numbers that no step has.
rank.func @none() attributes {results = 0 : i64} { rank.return }
rank.schedule train {
  %f = rank.slot frame "frame" workspace : !rank.buffer<0>
  // expected-error @+1 {{names chunk 1000000000000 and micro-batch 0, more than a step of 1 actions has}}
  rank.action forward @none frame %f : !rank.buffer<0> ins() outs() {chunk = 1000000000000 : i64, micro_batch = 0 : i64}
  rank.return
}

// -----

// expected-error @+1 {{the step has 0 actions for 1 stages, 0 chunks and 1 micro-batches; expected some on every stage, for every chunk}}
rank.schedule train {
  rank.return
}

// -----

// Training in an evaluation.
rank.func @none() attributes {results = 0 : i64} { rank.return }
rank.schedule eval {
  %f = rank.slot frame "frame" workspace : !rank.buffer<0>
  // expected-error @+1 {{update in a schedule to eval; expected eval}}
  rank.action update @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = -1 : i64}
  rank.return
}

// -----

// An evaluation of one micro-batch twice.
rank.func @none() attributes {results = 0 : i64} { rank.return }
rank.schedule logits {
  %f = rank.slot frame "frame" workspace : !rank.buffer<0>
  // expected-note @+1 {{first here}}
  rank.action logits @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  // expected-error @+1 {{is there twice, expected one action of chunk 0 with micro-batch 0}}
  rank.action logits @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.return
}

// -----

// An evaluation of no micro-batch.
rank.func @none() attributes {results = 0 : i64} { rank.return }
rank.schedule eval {
  %f = rank.slot frame "frame" workspace : !rank.buffer<0>
  rank.action eval @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  // expected-error @+1 {{is of micro-batch -1, expected 0 to 0}}
  rank.action eval @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = -1 : i64}
  rank.return
}

// -----

// An evaluation that stops too early.
module attributes {par.plan = #par.plan<micro_batches = 2>} {
  rank.func @none() attributes {results = 0 : i64} { rank.return }
  // expected-error @+1 {{the step has 1 actions for 1 stages, 1 chunks and 2 micro-batches; expected some on every stage, for every chunk}}
  rank.schedule eval {
    %f = rank.slot frame "frame" workspace : !rank.buffer<0>
    rank.action eval @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = 0 : i64}
    rank.return
  }
}
