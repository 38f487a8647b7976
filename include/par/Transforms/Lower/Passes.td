//===- Passes.td - lower: from local tensors to buffers of one arena ----------------------------------------===//
#ifndef PAR_TRANSFORMS_LOWER_PASSES
#define PAR_TRANSFORMS_LOWER_PASSES

include "mlir/Pass/PassBase.td"

def FlattenRows : Pass<"par-flatten-rows", "::mlir::func::FuncOp"> {
  let summary = "rows that are added by number become vectors";
  let description = [{
    ```mlir
    %t = par.add_rows %ids, %x : (tensor<8xi32>, tensor<8x4x16xf32>) -> tensor<64x4x16xf32>
    ```
    becomes the sum of vectors between two views, which cost nothing:
    ```mlir
    %v = par.reshape %x : tensor<8x4x16xf32> -> tensor<8x64xf32>
    %s = par.add_rows %ids, %v : (tensor<8xi32>, tensor<8x64xf32>) -> tensor<64x64xf32>
    %t = par.reshape %s : tensor<64x64xf32> -> tensor<64x4x16xf32>
    ```
    So kernels that add rows to those of a table know one shape of rows. An id alone becomes a vector of one.
  }];
}

def WidenSums : Pass<"par-widen-sums", "::mlir::func::FuncOp"> {
  let summary = "sums that are added up in memory are added up in f32";
  let description = [{
    Kernels add up sums over leading dimensions (of biases, norm weights and tables) row by row where the result lies.
    **Before:** such a sum may be bf16 or f16, which would be rounded at every row. **After:** it is f32, and rounded
    by an `arith.truncf` behind it. The meaning is the same: a sum is rounded once.

    ```mlir
    // before
    %0 = par.reduce sum %x dims [0] : tensor<8x64xbf16> -> tensor<64xbf16>
    // after
    %0 = par.reduce sum %x dims [0] : tensor<8x64xbf16> -> tensor<64xf32>
    %1 = arith.truncf %0 : tensor<64xf32> to tensor<64xbf16>
    ```
  }];
}

def SplitLargeValues : Pass<"par-split-large-values", "::mlir::ModuleOp"> {
  let summary = "values too large to exist whole are computed in parts";
  let description = [{
    ```mlir
    // before
    %l = par.einsum "bse,ve->bsv"(%x, %w) : … -> tensor<8x1024x50257xf32>
    … what makes and uses values as large …
    // after
    %dx, %dw = par.call @head.part(%x, %w, %acc) {parts = 16 : i64} : (tensor<8x1024x768xf32>, …) -> …
    func.func private @head.part(%x: tensor<1x512x768xf32>, …)
        { %l = par.einsum "bse,ve->bsv"(%x, %w) : … -> tensor<1x512x50257xf32> … }
    ```
    A product that is larger than `limit` bytes and than the operand that it has the rows of (logits) is computed in
    parts of rows, together with everything that makes or uses values as large (larger than both) and what lies
    between, as the sharding rules allow it. The ops become a function that is called once per part: operands and
    results that have the rows are cut, sums over rows go from part to part. The program is as long for many parts as
    for two. Nothing is computed twice. Rows are all leading dimensions of the product where every op treats them
    alike, else one of them, if its parts lie behind each other in memory. Scalars, numbers of positions and splat
    constants are made in the function. A value that is returned, or whose elements are numbered along the rows
    (dropout), is left whole. No part has fewer than `rows` rows: with fewer, products pack the same weights again too
    often. (Chunked cross-entropy: Hsu et al., "Liger Kernel", 2410.10989, section 3.2.)
  }];
  let options = [Option<"limit", "limit", "int64_t", "-1", "most bytes of a value; -1 = the target's">,
                 Option<"leastRows", "rows", "int64_t", "-1", "fewest rows of a part; -1 = the target's">];
  let dependentDialects = ["::mlir::par::rank::RankDialect"];
}

def OffloadState : Pass<"par-offload-state", "::mlir::ModuleOp"> {
  let summary = "keeps moments and masters in host memory";
  let description = [{
    Moments and masters get the memory space `host`. Functions that read them (the update) copy each to the device
    just before it is used and what they write back as soon as it is there, so that the device holds the state of one
    layer at a time. (Rajbhandari et al., "ZeRO-Infinity", 2104.07857, section 5.)

    With `update-on-host` the state stays where it is, and what the ops that use it need besides (gradients,
    parameters that are no masters, scalars) is copied to host memory, what else they make (parameters) to the device:
    half the bytes where masters exist. (Ren et al., "ZeRO-Offload", 2101.06840, section 3.)

    With `overlap` transfers are started: what a layer needs before the layer ahead of it, what it has made behind
    itself, waited for behind the next.

    **Precondition:** docs/IR.md section 4. **Postcondition:** values of host variables are used by `par.transfer`
    only; with `update-on-host`, by ops whose other operands are transfers to the host.

    ```mlir
    // before
    func.func @update(%p: tensor<4xf32> {par.place = #par.place<variable @w>},
        %m: tensor<4xf32> {par.place = #par.place<variable @w.m>}, ...)
            { ... par.call @layer.update(%p, %m, ...) ... }
    // after
    func.func @update(...) { %0 = par.transfer %m to <device> ... %1:2 = par.call @layer.update(%p, %0,
        ...) ... %2 = par.transfer %1#1 to <host> ... }
    ```
  }];
  let options = [Option<"updateOnHost", "update-on-host", "bool", "false", "ops that use the state run on the host">,
                 Option<"overlap", "overlap", "bool", "false",
                 "copies run beside the layer before or behind their own">];
  let dependentDialects = ["::mlir::par::ParDialect"];
}

def JoinPads : Pass<"par-join-pads", "::mlir::func::FuncOp"> {
  let summary = "sums of pads that tile a tensor become concatenations";
  let description = [{
    The derivative of slices of one tensor (queries, keys and values of a joint projection) is a sum of pads: mostly
    zeros. **After:** where the pads of a sum lie one after the other along one dimension and fill it, `par.concat` of
    what they pad, plus the sum's other terms.
  }];
}

def HoistConstants : Pass<"par-hoist-constants", "::mlir::ModuleOp"> {
  let summary = "what no step changes is computed once";
  let description = [{
    Positions, offsets of shards, numbers of layers, and the cosines and sines of rotary positions depend on no input.
    **Before:** every layer computes its own, rotations in every head. **After:** what has to lie in memory, since a
    call, an attention or a composite op reads it, is an argument of layers; equal ones are one. Chunk functions have
    it as `#par.place<constant …>` where its elements are a sequence or one number, which the runtime writes once and
    for all; else they compute it, once per call. What a generated kernel makes beside the rest stays there.

    ```mlir
    // before
    func.func private @block(%x: …, %index: tensor<i32>) {
      %p = par.iota dim 0 : tensor<128xi32>
      %q = par.rotary %x, %p {frequencies = …} : …
      … par.attention %q, %k, %v positions %p, %p …
    // after
    func.func private @block(%x: …, %index: tensor<i32>, %cosines: tensor<128x2xf32>, %sines: …, %p: tensor<128xi32>) {
      %q = par.rotate %x, %cosines, %sines : …
      … par.attention %q, %k, %v positions %p, %p …
    func.func @forward(…, %p: tensor<128xi32> {par.place = #par.place<constant 0 : i32, step = 1>}) {
      %0:2 = par.rotary_tables %p {frequencies = …} : …
      … par.call @block(%x, %index, %0#0, %0#1, %p) …
    ```
  }];
  let dependentDialects = ["::mlir::par::ParDialect"];
}

def FormEpilogues : Pass<"par-form-epilogues", "::mlir::func::FuncOp"> {
  let summary = "what a library computes behind a matrix product gets a form of its own";
  let description = [{
    Nothing is changed where the target's products have no epilogues. **Before:** a product of bf16 is rounded, its
    bias is added, and the sum is rounded again. **After:** product, bias and GELU behind them are in f32, and what
    others read is rounded once, as the library does it. The ops of GELU and of its gradient, which is told by its
    values, are used by nothing else: what else needs some of them has its own. par-form-kernels then makes one call of
    each.

    ```mlir
    // before
    %0 = par.einsum "ik,jk->ij"(%x, %w) : … -> tensor<8x64xbf16>
    %1 = par.expand %bias dims [0] : tensor<64xbf16> -> tensor<8x64xbf16>
    %2 = arith.addf %0, %1 : tensor<8x64xbf16>
    // after
    %0 = par.einsum "ik,jk->ij"(%x, %w) : … -> tensor<8x64xf32>
    %1 = par.expand %bias dims [0] : tensor<64xbf16> -> tensor<8x64xbf16>
    %2 = arith.extf %1 : tensor<8x64xbf16> to tensor<8x64xf32>
    %3 = arith.addf %0, %2 : tensor<8x64xf32>
    %4 = arith.truncf %3 : tensor<8x64xf32> to tensor<8x64xbf16>
    ```
  }];
}

def FormKernels : Pass<"par-form-kernels", "::mlir::func::FuncOp"> {
  let summary = "groups ops into kernels";
  let description = [{
    **Before:** a local function (or one of a single rank). **After:** every op that a kernel computes has
    `par.kernel = n`; ops with one number run as one kernel at the place of the last of them. Constants, positions,
    broadcasts and scalar arithmetic are cloned into every kernel that uses them; elementwise ops of one shape join
    the kernel of their operands unless somebody else needs those before. Where the target's limits allow it, the
    updates of a function are one kernel, and so are the dots of tensors that are added up with who adds them up. Where
    the target's products have epilogues, a product is grouped with its own (par-form-epilogues).
  }];
}

def JoinProducts : Pass<"par-join-products", "::mlir::func::FuncOp"> {
  let summary = "matrix products that are parts of one run as one";
  let description = [{
    **Before:** `par.kernel` numbers (par-form-kernels). **After:** f32 products with one factor in common (queries,
    keys and values; gate and up; the gradients of their weights), and products of one size that are added up (the
    gradient of what they share), have one number: one `rank.gemm`, whose rows or columns the runtime's threads share
    once. The weights stay variables of their own: any sharding, ZeRO and checkpoints go on with them. Only where
    nothing but products is computed in between.
  }];
}

def ToRank : Pass<"par-to-rank", "::mlir::ModuleOp"> {
  let summary = "functions on tensors become functions on buffers, chunk functions a schedule";
  let description = [{
    **Before:** grouped local functions. **After:** a `rank.func` per function with results as out-parameters, and
    `rank.schedule train`: the actions of a step as par-schedule prints them, by default for every micro-batch
    forward and backward, then reduce, norm, update; also `eval` (every micro-batch) and `logits` (one) where there
    are functions of those phases. A result that overwrites an argument (`#par.place<alias …>`, one variable) is
    computed in place where the last reader of the argument allows it, else in a temporary that is copied.
  }];
  let options = [Option<"microBatches", "micro-batches", "int64_t", "1", "micro-batches of a step">,
                 Option<"schedule", "schedule", "std::string", "\"1f1b\"",
                 "the schedule whose one stage a step is: 1f1b, gpipe, zb-h1, …">];
  let dependentDialects = ["::mlir::par::rank::RankDialect"];
}

def PrintBufferAssignment : Pass<"par-print-buffer-assignment", "::mlir::ModuleOp"> {
  let summary = "a remark for every value that shall have memory: where par-to-rank puts it";
  let description = [{
    **Before and after:** the same grouped local functions; nothing is changed.

    `fresh`: a buffer of its own. `view of`: in the buffer of what it only reshapes or waits for. `reuses`: written
    over what nobody needs any more. `adds into`: added to a sum where that lies. `writes result`: straight into the
    memory that the caller gave for a result. `remark: %2: adds into %arg3`.
  }];
}

def PlanMemory : Pass<"rank-plan-memory", "::mlir::ModuleOp"> {
  let summary = "gives every buffer its offset";
  let description = [{
    **Before:** `rank.alloc` and `rank.slot` without offsets. **After:** offsets within frames and arena such that no
    two buffers that are live together overlap; callees' frames are buffers of the caller, live during the call. All
    schedules share one arena: the variables, inputs and constants of `train` lie at its bottom, and the other
    schedules find them there; what else they need lies where `train` keeps residuals and frames, which hold nothing
    between steps. `rank.schedule` carries `peak_bytes` (highest end of any buffer), `arena_bytes` (each category's
    maximum) and `lower_bound` (the most bytes live at once).
  }];
}

def VerifySchedule : Pass<"par-verify-schedule", "::mlir::ModuleOp"> {
  let summary = "replays the actions of a module: they make whole steps";
  let description = [{
    **Precondition:** `par-to-rank`. Changes nothing. The actions of the schedules to train, one per stage, are replayed
    as par-schedule replays its lists (docs/Schedules.md). It fails where

    - an action is missing, there twice, or of a chunk of another stage;
    - stages wait for each other: a backward before its forward, an update before the gradients are reduced, a receive
      before its send;
    - an action reads a residual that another micro-batch in flight has been written over, or that nothing has written;
    - a stage receives other buffers than are sent;
    - an evaluation leaves out a micro-batch, or does something else.

    Errors stand at the action that cannot run, with notes at what it waits for.
  }];
}

def NumberWork : Pass<"rank-number-work", "::mlir::ModuleOp"> {
  let summary = "numbers work and collectives as the manifest lists them";
  let description = [{
    **Before:** a rank program. **After:** every op that takes time has `work = n`, every collective also
    `number = n`, in the order of the module: the entries of the manifest's lists `work` and `collectives`, by which
    the runtime measures and connects.

    What crosses stages is numbered by program. The four parts of a message are two entries of the list `messages`, one
    at each end, and those of all micro-batches are one. Sums over stages follow the collectives of the functions.
  }];
}

def VerifyProgram : Pass<"rank-verify-program", "::mlir::ModuleOp"> {
  let summary = "replays a planned program: memory holds what every op expects";
  let description = [{
    **Precondition:** `rank-plan-memory`. Changes nothing, and fails where the program is not one that `par-to-rank`
    and the plan meant:

    - every buffer has an aligned place within its frame or arena, and buffers that live at once do not overlap; slots
      that schedules share lie where all have them;
    - what an op reads was written, and is the value whose number the op says; what functions and schedules give back
      they hold at the end;
    - what is started belongs to the transport until its wait;
    - an op writes over what it reads only where it has read it by then (an element at a time, a sum over ranks), a
      call where its callee says so (`overwrites`), and nothing else of a function's arguments changes.

    Every function is replayed once, however often it is called. Errors stand at the op that finds memory wrong, with
    notes at the op that made it so.
  }];
}

#endif // PAR_TRANSFORMS_LOWER_PASSES
