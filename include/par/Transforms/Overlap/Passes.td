//===- Passes.td - overlap: communication beside computation ------------------------------------------------===//
#ifndef PAR_TRANSFORMS_OVERLAP_PASSES
#define PAR_TRANSFORMS_OVERLAP_PASSES

include "mlir/Pass/PassBase.td"

def FuseReduction : Pass<"par-fuse-reduction", "::mlir::ModuleOp"> {
  let summary = "the last micro-batch's backward function reduces the gradients";
  let description = [{
    A function waits for what it has started, so reductions can overlap with the backward pass only within its
    function. **Before:** `@backward` for every micro-batch, then `@reduce`. **After:** `@backward.last` of phase
    `backward_last` does what the last `@backward` and `@reduce` did; `@backward` stays for the other micro-batches,
    if there are any. Of a split backward pass, `@backward_weight.last` is of phase `backward_weight_last`.

    In a pipeline so do the first chunk, and chunks whose backward pass is split. Of others the chunk before waits for
    a gradient, which would be handed on behind the reduction only: theirs stays apart.

    ```mlir
    // before
    func.func @backward(…, %acc {par.place = #par.place<variable @w.accumulator>})
        -> (… {par.place = #par.place<variable @w.accumulator>}) { … return %sum }
    func.func @reduce(%sum {par.place = #par.place<variable @w.accumulator>}, …)
        -> (… {par.place = #par.place<variable @w.gradient>}) { %g = par.all_reduce sum over ["dp"] %sum … return %g }
    // after
    func.func @backward.last(…, %acc {par.place = #par.place<variable @w.accumulator>})
        -> (… {par.place = #par.place<variable @w.gradient>})
            { … %g = par.all_reduce sum over ["dp"] %sum … return %g }
    ```
    An accumulator that the gradient does not overwrite is still written: it is the memory that the sum is made in.
    A chunk keeps `@reduce` where other chunks add to the same accumulators: none of them knows whether it is the last.
  }];
  let options = [Option<"microBatches", "micro-batches", "int64_t", "1", "micro-batches of a step">];
}

def OverlapCollectives : Pass<"par-overlap-collectives", "::mlir::ModuleOp"> {
  let summary = "collectives begin early and end late";
  let description = [{
    **Before:** local functions, collectives where their results are needed. **After:** a collective that something
    can be computed beside is marked `par.started`, and a `par.wait` brings its results:

    - gathers of arguments (parameters) begin ahead of the ops that need them, in the order of their first use, as
      long as gathered values that nothing has used yet take no more than `prefetch-limit` bytes; the next one may
      always begin when nothing is ahead. They are waited for at their first use, where copies of them (transposes)
      are made, too.
    - all others begin where their operands exist, and are waited for where their results are used. Sums to which
      gradients are added are made late: when the reduction has ended because the function does, or because values
      that it keeps alive take more than `prefetch-limit` bytes.

    All else keeps its order, and so do collectives that cannot overlap with anything: they stay as they are. All
    ranks run one program, so all start the same collectives in the same order.

    ```mlir
    // before                                              // after
    %0 = par.all_gather over ["dp"] dim 0 %w0              %0 = par.all_gather over ["dp"] dim 0 %w0
    %y = par.call @layer(%x, %0)                           %1 = par.all_gather over ["dp"] dim 0 %w1 {par.started}
    %1 = par.all_gather over ["dp"] dim 0 %w1              %y = par.call @layer(%x, %0)
    %z = par.call @layer(%y, %1)                           %2 = par.wait %1
                                                           %z = par.call @layer(%y, %2)
    ```
    `prefetch-limit` −1 is the most that one op waits for: one layer ahead. With 0 gathers of parameters are not
    moved. (FSDP, 2304.11277, section 3.3, prefetches the same way by hooks.)
  }];
  let options = [Option<"prefetchLimit", "prefetch-limit", "int64_t", "-1",
      "bytes gathered ahead or kept for reductions; -1 = a layer's">];
}

def VerifyOverlapped : Pass<"par-verify-overlapped", "::mlir::ModuleOp"> {
  let summary = "checks the form after the phase overlap";
  let description = [{
    Collectives are started in partitioned functions only, and something is computed between every start and its wait;
    the error names par-overlap-collectives.
  }];
}

#endif // PAR_TRANSFORMS_OVERLAP_PASSES
