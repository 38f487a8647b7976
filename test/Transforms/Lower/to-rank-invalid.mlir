// RUN: par-opt %s -split-input-file -par-to-rank -verify-diagnostics -o /dev/null
// RUN: not par-opt %s -split-input-file -par-to-rank=micro-batches=0 -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: par-to-rank: micro-batches is 0, expected at least 1

// An argument of which nothing says where it comes from.
// expected-error @+1 {{par-to-rank: argument 0 of a chunk function has no par.place}}
func.func @train(%x: tensor<f32>) -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward>} {
  return %x : tensor<f32>
}

// -----

// A result that goes nowhere.
// expected-error @+1 {{par-to-rank: result 0 of a chunk function is no variable, output, residual or boundary}}
func.func @train(%x: tensor<f32> {par.place = #par.place<input lr>}) -> tensor<f32> attributes {par.phase = #par.phase<forward>} {
  return %x : tensor<f32>
}

// -----

// Values of the chunk before.
// expected-error @+1 {{par-to-rank: argument 0 of @train is boundary 0, but no chunk is there to hand it over; expected chunk -1}}
func.func @train(%x: tensor<f32> {par.place = #par.place<boundary 0>}) -> (tensor<f32> {par.place = #par.place<output loss>})
    attributes {par.phase = #par.phase<forward>} {
  return %x : tensor<f32>
}

// -----

// A chunk on a stage where the schedule does not have it.
func.func @forward(%x: tensor<f32> {par.place = #par.place<input lr>}) -> (tensor<f32> {par.place = #par.place<output loss>})
    attributes {par.phase = #par.phase<forward, chunk = 0, stage = 1>} {
  return %x : tensor<f32>
}
// expected-error @-4 {{par-to-rank: @forward is of chunk 0 on stage 1; schedule 1f1b has 2 chunks on 2 stages and this one on stage 0}}
func.func @forward_1(%x: tensor<f32> {par.place = #par.place<input lr>}) -> (tensor<f32> {par.place = #par.place<output loss>})
    attributes {par.phase = #par.phase<forward, chunk = 1>} {
  return %x : tensor<f32>
}
