//===- Passes.td - cut: the forward graph becomes chunks of a pipeline ---------------------------------------===//
#ifndef PAR_TRANSFORMS_CUT_PASSES
#define PAR_TRANSFORMS_CUT_PASSES

include "mlir/Pass/PassBase.td"

def CutPipeline : Pass<"par-cut-pipeline", "::mlir::ModuleOp"> {
  let summary = "cuts the model into the chunks of a pipeline's stages";
  let description = [{
    **Before:** one forward function, with shardings that are complete and closed. **After:** one per chunk, with
    `par.phase = #par.phase<forward, chunk = 1, stage = 1>`. What crosses a cut is a result of one chunk and an argument
    of the next one, `#par.place<boundary 0>`; what crosses several cuts passes through the chunks between.

    Units are the calls of the forward function, or its ops where it calls nothing. An op that is no unit belongs to the
    unit before it, the first ones to the first unit. What follows from inputs and variables by cheap ops alone is
    computed again where it is used: a parameter that two stages read is tied, not sent.

    `cuts` has the unit at which every chunk but the first begins. Without it, the slowest chunk is as short as can be:
    unit times are those of `lib/Cost`, backward counted as twice forward. Functions of evaluations and logits are cut
    by where their parameters are.

    ```mlir
    // before
    func.func @forward(%t: tensor<4x8xi32> {par.place = #par.place<input tokens>}, %w: …, %v: …) -> tensor<f32> …
      %0 = par.call @embed(%t, %w) : …
      %1 = par.call @head(%0, %v) : …
    // after par-cut-pipeline{stages=2}
    func.func @forward_0(%t: …, %w: …) -> (tensor<4x8x16xf32> {par.place = #par.place<boundary 0>})
        attributes {par.phase = #par.phase<forward, chunk = 0>}
    func.func @forward_1(%x: tensor<4x8x16xf32> {par.place = #par.place<boundary 0>}, %v: …) -> tensor<f32> …
        attributes {par.phase = #par.phase<forward, chunk = 1, stage = 1>}
    ```
  }];
  let options = [
    Option<"stages", "stages", "int64_t", "1", "coordinates of the pipeline">,
    Option<"chunks", "chunks", "int64_t", "1", "chunks per stage">,
    Option<"schedule", "schedule", "std::string", "\"1f1b\"", "says which stage runs which chunk">,
    Option<"microBatches", "micro-batches", "int64_t", "1", "micro-batches of a step">,
    ListOption<"cuts", "cuts", "int64_t", "the unit at which every chunk but the first begins">,
    Option<"explain", "explain", "bool", "false", "a remark per unit or run of equal ones: modelled time, bytes">,
  ];
}

def VerifyCut : Pass<"par-verify-cut", "::mlir::ModuleOp"> {
  let summary = "checks the form after the phase cut";
  let description = [{
    - (cut_c1) chunks of every phase are numbered from 0 without a gap, and each is on the stage on which the schedule
      has it; without a `schedule` on any
    - (cut_c2) what the forward function of a chunk returns as a boundary, that of the next one takes, in one type and
      one sharding; the first takes none, and the last returns none. So do functions of evaluations and logits.
  }];
  let options = [
    Option<"stages", "stages", "int64_t", "1", "coordinates of the pipeline">,
    Option<"chunks", "chunks", "int64_t", "1", "chunks per stage">,
    Option<"schedule", "schedule", "std::string", "\"\"", "says which stage runs which chunk">,
    Option<"microBatches", "micro-batches", "int64_t", "1", "micro-batches of a step">,
  ];
}

#endif // PAR_TRANSFORMS_CUT_PASSES
