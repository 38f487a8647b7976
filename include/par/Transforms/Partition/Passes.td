//===- Passes.td - partition: from global tensors to local tensors and collectives --------------------------===//
#ifndef PAR_TRANSFORMS_PARTITION_PASSES
#define PAR_TRANSFORMS_PARTITION_PASSES

include "mlir/Pass/PassBase.td"

def InsertReshards : Pass<"par-insert-reshards", "::mlir::ModuleOp"> {
  let summary = "makes every change of sharding explicit and derives partial sums";
  let description = [{
    **Before:** every value has a closed sharding (dimensions only). **After:** every op's operands and results agree
    with one assignment of axes to its factors; whatever differed is a `par.reshard`; sums over split factors are
    `unreduced` and reduced at the cheapest point: a partial sum passes through an op only if that is linear in a
    whole set of partial operands and its results are no larger; accumulators stay unreduced. `constrain` is gone.
    What lies in memory otherwise than functions compute with it (`storage`) is resharded where a chunk function reads
    it first and where it returns it; arguments and results bound to variables have storage shardings then.

    ```
    %y = par.einsum "bsm,em->bse"(%x, %w)     // m over tp
    →  %p = par.einsum "bsm,em->bse"(%x, %w) {par.sharding = [<…, unreduced={"tp"}>]} ;  %y = par.reshard %p <@mesh, …>
    ```
  }];
}

def PadForSharding : Pass<"par-pad-for-sharding", "::mlir::ModuleOp"> {
  let summary = "rounds sizes up to what their shardings divide, and masks padding";
  let description = [{
    **Before:** explicit reshards, logical types. **After:** every dimension is divisible by its number of shards;
    function arguments and results carry their logical type in `par.global_type`. Padding is a suffix of a dimension.
    Padding of variables is zero after every write; a value whose padding is not known to be zero is masked by
    `select(iota < n)` before it is reduced over that dimension or written to a variable.

    Rows of logits, and other rows of products whose padding nobody would have to mask, become multiples of
    `rowElements` of the target's limits on every rank, if that is at most an eighth more.
  }];
}

def PartitionGraph : Pass<"par-partition", "::mlir::ModuleOp"> {
  let summary = "writes what one rank does: local types and collectives";
  let description = [{
    **Before:** divisible types, explicit reshards. **After:** functions are marked `par.local`; each op was rewritten
    by its `localize`, each reshard became collectives: all-reduce or reduce-scatter for partial sums, all-to-all
    where an axis moves between dimensions, all-gather, and slices that cost nothing.
  }];
  let options = [Option<"explain", "explain", "bool", "false", "a remark per collective: bytes, axes and cause">];
}

def OptimizeCollectives : Pass<"par-optimize-collectives", "::mlir::func::FuncOp"> {
  let summary = "fuses and shares collectives";
  let description = [{
    **Before:** local functions. **After:** all-reduce + slice is reduce-scatter, reduce-scatter + all-gather of it
    alone is all-reduce, a gather that is sliced back is gone, and equal collectives of one value are one.
  }];
}

def JoinCollectives : Pass<"par-join-collectives", "::mlir::func::FuncOp"> {
  let summary = "collectives of one kind travel together";
  let description = [{
    **Before:** a collective per tensor. **After:** all-reduces, and gathers and reduce-scatters of outermost
    dimensions, of one kind over one group that do not depend on each other are one op on several tensors, where the
    last of them stood, up to `bucket-bytes`: the gradients of layers, the parameters of a layer.

    ```mlir
    // before
    %0 = par.all_reduce sum over ["dp"] %a
    %1 = par.all_reduce sum over ["dp"] %b
    // after
    %0:2 = par.all_reduce sum over ["dp"] %a, %b
    ```
    A small bucket is ready sooner, so that it may overlap with what is still computed; a large one begins less often.
    Nothing joins or splits buckets later.
  }];
  let options = [Option<"bucketBytes", "bucket-bytes", "int64_t", "4194304", "largest bucket; 0 = every tensor alone">];
}

def NormalizeCollectives : Pass<"par-normalize-collectives", "::mlir::func::FuncOp"> {
  let summary = "gathers, scatters and all-to-alls along dimension 0 only";
  let description = [{
    **Before:** collectives along any dimension. **After:** all work on contiguous blocks along dimension 0, as
    transports do; other dimensions are moved there and back by transposes, which kernels absorb.
  }];
}

def SelectBackward : Pass<"par-select-backward", "::mlir::ModuleOp"> {
  let summary = "keeps the backward functions that a schedule runs";
  let description = [{
    **Before:** chunks with `backward`, and with `backward_input` and `backward_weight`. **After:** with one or the
    other, as the schedule cuts the backward pass in two or not (`dualpipe-v` does both), and without the layers that
    only the others called.
  }];
  let options = [Option<"schedule", "schedule", "std::string", "\"1f1b\"",
      "order of a step's forward and backward parts">];
}

def DeferLoss : Pass<"par-defer-loss", "::mlir::ModuleOp"> {
  let summary = "the loss is computed where its gradient is";
  let description = [{
    **Before:** a chunk's forward function ends in a call whose results are the loss, on its way to being returned,
    and residuals of which one takes more than `limit` bytes (logits); one call of its backward function reads those.
    **After:** the backward function makes both calls in one, `@head.backward.loss`, and the residuals are values of
    that function: par-split-large-values can keep them from ever existing whole. The gradient's seed does not depend
    on the loss. Where the backward pass is in two parts, the input part is that function, if the weight part reads
    nothing of it: par-differentiate leaves the weights of such a layer to the input part.
  }];
  let options = [Option<"limit", "limit", "int64_t", "-1",
      "bytes of a residual that is worth it; -1 = the target's">];
}

def VerifyPartitioned : Pass<"par-verify-partitioned", "::mlir::ModuleOp"> {
  let summary = "checks the form after the phase partition";
  let description = [{
    No `constrain`, `reshard` or global function is left; the error names the pass that should have removed it.
  }];
}

#endif // PAR_TRANSFORMS_PARTITION_PASSES
