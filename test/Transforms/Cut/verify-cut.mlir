// RUN: par-opt %s -split-input-file -par-verify-cut="schedule=1f1b stages=2" -verify-diagnostics

// Two chunks, each on its stage, and one value between them. What evaluates may end early. Nothing is said.
func.func @forward_0(%x: tensor<4xf32>) -> (tensor<4xf32> {par.place = #par.place<boundary 0>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  return %x : tensor<4xf32>
}
func.func @forward_1(%x: tensor<4xf32> {par.place = #par.place<boundary 0>}) attributes {par.phase = #par.phase<forward, chunk = 1, stage = 1>} {
  return
}
func.func @logits() attributes {par.phase = #par.phase<logits, chunk = 0>} {
  return
}

// -----

// The schedule has the second chunk on the second stage.
func.func @forward_0() attributes {par.phase = #par.phase<forward, chunk = 0>} {
  return
}
// expected-error @+1 {{cut_c1: @forward_1 of chunk 1 is on stage 0, expected stage 1, where 1f1b has it; mend it, or cut the graph again (--from cut)}}
func.func @forward_1() attributes {par.phase = #par.phase<forward, chunk = 1>} {
  return
}

// -----

// expected-error @+1 {{cut_c1: the module has 1 chunks, expected 2, 1 on each of 2 stages}}
module {
  func.func @forward() attributes {par.phase = #par.phase<forward, chunk = 0>} {
    return
  }
}

// -----

// Chunk 0 computes no logits: chunk 1 would wait for nothing.
func.func @forward_0() attributes {par.phase = #par.phase<forward, chunk = 0>} {
  return
}
func.func @forward_1() attributes {par.phase = #par.phase<forward, chunk = 1, stage = 1>} {
  return
}
// expected-error @+1 {{cut_c1: @logits is of chunk 1, but no function of phase logits is of chunk 0, expected chunks numbered from 0 without a gap}}
func.func @logits() attributes {par.phase = #par.phase<logits, chunk = 1, stage = 1>} {
  return
}

// -----

// expected-note @+1 {{@forward_0 is the chunk beside it}}
func.func @forward_0(%x: tensor<4xf32>) -> (tensor<4xf32> {par.place = #par.place<boundary 0>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  return %x : tensor<4xf32>
}
// expected-error @+1 {{cut_c2: argument 0 of @forward_1 is boundary 1, which the chunk before does not return; mend it, or cut the graph again (--from cut)}}
func.func @forward_1(%x: tensor<4xf32> {par.place = #par.place<boundary 1>}) attributes {par.phase = #par.phase<forward, chunk = 1, stage = 1>} {
  return
}

// -----

// Other elements on each rank.
par.mesh @mesh <["tp"=2]>
// expected-note @+1 {{@forward_0 is the chunk beside it}}
func.func @forward_0(%x: tensor<4xf32> {par.sharding = #par.sharding<@mesh, [{}]>}) -> (tensor<4xf32> {par.place = #par.place<boundary 0>, par.sharding = #par.sharding<@mesh, [{}]>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  return %x : tensor<4xf32>
}
// expected-error @+1 {{cut_c2: argument 0 of @forward_1 is boundary 0 as tensor<4xf32> #par.sharding<@mesh, [{"tp"}]>, expected tensor<4xf32> #par.sharding<@mesh, [{}]>, as the chunk before returns it}}
func.func @forward_1(%x: tensor<4xf32> {par.place = #par.place<boundary 0>, par.sharding = #par.sharding<@mesh, [{"tp"}]>}) attributes {par.phase = #par.phase<forward, chunk = 1, stage = 1>} {
  return
}

// -----

// expected-error @+1 {{cut_c2: result 0 of @forward_0 is boundary 0, which the chunk behind does not take}}
func.func @forward_0(%x: tensor<4xf32>) -> (tensor<4xf32> {par.place = #par.place<boundary 0>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  return %x : tensor<4xf32>
}
// expected-note @+1 {{@forward_1 is the chunk beside it}}
func.func @forward_1() attributes {par.phase = #par.phase<forward, chunk = 1, stage = 1>} {
  return
}

// -----

// The first chunk receives nothing.
// expected-error @+1 {{cut_c2: argument 0 of @forward_0 is boundary 0, which the chunk before does not return}}
func.func @forward_0(%x: tensor<4xf32> {par.place = #par.place<boundary 0>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  return
}
func.func @forward_1() attributes {par.phase = #par.phase<forward, chunk = 1, stage = 1>} {
  return
}
