//===- Passes.td - from a forward graph to forward, backward and update -------------------------------------===//
#ifndef PAR_TRANSFORMS_DIFFERENTIATE_PASSES
#define PAR_TRANSFORMS_DIFFERENTIATE_PASSES

include "mlir/Pass/PassBase.td"

def BuildEvaluation : Pass<"par-build-evaluation", "::mlir::ModuleOp"> {
  let summary = "writes the forward functions again, without dropout";
  let description = [{
    `@eval` is `@forward` with every dropout taken out, of called layers too: those that drop anything get a copy
    `@layer.eval`, all others are shared. Arguments that only dropout used are gone. Its output is `eval_loss`, the
    sum of cross-entropies of a micro-batch. Shardings are copied, so evaluation runs under the plan of the training
    step. A module that has a function of the phase `eval` is left alone.

    **Precondition:** a graph as in docs/IR.md section 1 or 2. **Postcondition:** each function of phase `forward` has
    one of phase `eval`.

    ```mlir
    // before
    func.func @forward(%tokens, %targets, %key, %m, %w) -> (tensor<f32> {par.place = #par.place<output loss>})
        attributes {par.phase = #par.phase<forward, chunk = 0>}
    // after, in addition
    func.func @eval(%tokens, %targets, %w) -> (tensor<f32> {par.place = #par.place<output eval_loss>})
        attributes {par.phase = #par.phase<eval, chunk = 0>}
    ```
  }];
}

def SelectResiduals : Pass<"par-select-residuals", "::mlir::ModuleOp"> {
  let summary = "chooses which forward values are saved for the backward pass";
  let description = [{
    Per function a minimum cut over its values, with capacity = bytes (local bytes where a value has a sharding). What
    may not be recomputed and the inputs of a layer are sources; values that backward ops use are sinks; arguments
    that the caller can pass again at no cost (parameters, inputs of the runtime, what follows from them by cheap ops)
    are free. Among cuts of equal size the one nearest to the uses is taken (least recomputation), and a layer's own
    arguments and results are preferred, which the caller keeps once however many layers use them. The policy
    `recompute` says which ops the backward pass may run again:

    - `none`: what is cheap (elementwise maths, broadcasts, views, iota), and gathers that sequence parallelism asked
      for
    - `selective`: also norms, softmax, attention and all products of values of the micro-batch alone; not products
      with parameters or lookups in them, and nothing that sums over ranks
    - `full`: everything but calls: what is left is the input of the layer. In a chunk function that calls layers, as
      `selective`
    - `auto`: everything but calls, at its modelled time (lib/Cost); what is cheap takes time where a product of the
      backward pass reads it from memory. `limit` bounds the bytes that a micro-batch saves per rank, and the cheapest
      cut within it is sought. Stages of a pipeline decide apart; a layer that stages with unequal decisions call
      becomes a function for each of these

    Of layers behind which only the loss is left cheap ops alone run again: their backward pass follows at once.

    **Precondition:** a graph as in docs/IR.md section 1 or 2. **Postcondition:** every value to be saved is marked:
    `par.save` on an argument, `par.save = array<i64: result numbers>` on an op; every op that will run again although
    it is not cheap has `par.recompute`. Residuals of a callee are always saved by its caller and not marked.

    ```mlir
    // before: a feed-forward layer of Llama
    %g = par.einsum "bse,me->bsm"(%x, %w0) : ...
    %u = par.einsum "bse,me->bsm"(%x, %w1) : ...
    %s = arith.mulf %g, %sigmoid : ...
    // after: the products are recomputed
    %g = par.einsum "bse,me->bsm"(%x, %w0) {par.save = array<i64: 0>} : ...
    %u = par.einsum "bse,me->bsm"(%x, %w1) {par.save = array<i64: 0>} : ...
    ```
  }];
  let options = [
    Option<"recompute", "recompute", "std::string", "\"none\"",
        "what backward passes run again: none, selective, full or auto">,
    ListOption<"limit", "limit", "int64_t",
        "with auto: most bytes that a micro-batch may save per rank, of all stages or of each; none: unlimited">,
    Option<"explain", "explain", "bool", "false", "emit a remark per saved value with its bytes">,
  ];
  let dependentDialects = ["::mlir::par::ParDialect"];
}

def Differentiate : Pass<"par-differentiate", "::mlir::ModuleOp"> {
  let summary = "writes forward functions with residuals and backward functions";
  let description = [{
    Reverse mode per function, callees first. The function's backward ops are built behind its forward ops in one
    block (ops say how: DifferentiableOpInterface), cotangents of one value are summed in the order in which the
    reverse walk meets them, and the block is then split. What the backward ops use and the forward pass does not save
    (`par.save`) is recomputed just before its first use, by cheap ops and those marked `par.recompute`; a weight part
    takes it from the input part. A cotangent takes the dimension shardings of its value, nothing else.

    Gradients of parameters are accumulated as they are computed: acc' = beta·acc + dW. An argument of a layer to
    which every call passes a parameter directly is accumulated inside the layer's backward function. A parameter
    without a gradient gets acc' = beta·acc, one with `par.frozen` has neither. The seed is the runtime's
    `loss_scale`. Accumulators are f32, or bf16 with `grad-type=bf16`; sums are taken in f32 either way, and a narrow
    parameter's gradient is not rounded before
    it is added where the op that sums it up can leave that out.

    With `split`, also backward_input and backward_weight: the weight part holds the ops that compute the gradients of
    parameters of rank ≥ 2 used by contractions and lookups, and takes saved values directly; only cotangents and
    values recomputed for the input part pass from one to the other.

    **Precondition:** marks of `par-select-residuals`. **Postcondition:** docs/IR.md section 3 without `reduce`,
    `norm` and `update`; variables `@w.accumulator` and `@loss` exist; functions that nothing calls any more are gone.

    ```mlir
    // before
    func.func private @lin(%x: tensor<4x2xf32> {par.save}, %w: tensor<3x2xf32>) -> tensor<4x3xf32> {
      %y = par.einsum "be,me->bm"(%x, %w) : ...
      return %y : tensor<4x3xf32>
    }
    // after
    func.func private @lin.forward(%x: tensor<4x2xf32>, %w: tensor<3x2xf32>) -> tensor<4x3xf32>
    func.func private @lin.backward(%x: tensor<4x2xf32>, %w: tensor<3x2xf32>, %dy: tensor<4x3xf32>,
        %beta: tensor<f32>,
        %acc: tensor<3x2xf32>) -> (tensor<4x2xf32>, tensor<3x2xf32> {par.place = #par.place<alias 4>})
    ```
  }];
  let options = [
    Option<"split", "split", "bool", "false", "also write backward_input and backward_weight">,
    Option<"gradType", "grad-type", "std::string", "\"f32\"", "type of accumulators: f32 or bf16">,
  ];
  let dependentDialects = ["::mlir::par::ParDialect"];
}

def BuildOptimizer : Pass<"par-build-optimizer", "::mlir::ModuleOp"> {
  let summary = "adds the reduction of gradients, their norm and the update of parameters";
  let description = [{
    Adds `@reduce`, `@norm` and `@update` and the variables `@w.gradient`, `@grad_norm` and, for adamw, the moments
    `@w.m` and `@w.v`. `@reduce` returns the accumulators as gradients: the change of variable is where partial sums
    become complete. `@norm` is the f32 L2 norm of the gradient, every logical element once. `@update` scales by
    min(1, clip / (norm + 1e-6)) where clip > 0 and updates in place; the parameters that one call of a layer alone
    uses are updated by a call of `@layer.update`, so that the update compiles once per kind of layer. Weight decay
    applies to parameters of rank ≥ 2 in the model's file, or to those whose name one of `decay-on` matches. Parameters
    with `par.frozen` have no state and no update.

    A bf16 parameter has a master `@w.master`, f32, which is what the update reads and writes; the parameter is the
    master rounded, in the same pass over memory (Micikevicius et al., 1710.03740). Moments are f32, or bf16 with
    `moment-type=bf16`.

    **Precondition:** `par-differentiate` ran; parameters are f32 or bf16. **Postcondition:** docs/IR.md section 3.

    ```mlir
    // before: func.func @backward(...) -> (tensor<3x2xf32> {par.place = #par.place<variable @w.accumulator>})
    // after, in addition
    func.func @reduce(%a: tensor<3x2xf32> {par.place = #par.place<variable @w.accumulator>}, ...)
        -> (tensor<3x2xf32> {par.place = #par.place<variable @w.gradient>}, ...)
    ```
  }];
  let options = [
    Option<"optimizer", "optimizer", "std::string", "\"adamw\"", "adamw or sgd">,
    Option<"momentType", "moment-type", "std::string", "\"f32\"", "type of moments: f32 or bf16">,
    ListOption<"decayOn", "decay-on", "std::string", "names of the parameters with weight decay; none: by rank">,
  ];
  let dependentDialects = ["::mlir::par::ParDialect"];
}

def HoldGathered : Pass<"par-hold-gathered", "::mlir::ModuleOp"> {
  let summary = "reads parameters that are stored in parts once per step";
  let description = [{
    A parameter whose `storage` is not its `compute` sharding is gathered by every function that reads it. This pass
    adds a function of the phase `gather`, which runs first in a step, and a variable `@w.gathered` (role gathered,
    lies as functions compute with it) that it writes; the functions of micro-batches read that instead. Its memory is
    kept from `gather` to the last backward pass. Evaluation and logits read the parameters themselves.

    **Precondition:** docs/IR.md section 3, storage and compute shardings of parameters. **Postcondition:** no
    function of phase forward or backward binds a parameter that is stored in its own way.

    ```mlir
    // before
    func.func @forward(%w: tensor<64x64xf32> {par.place = #par.place<variable @w>}, ...)
    // after
    par.variable @w.gathered : tensor<64x64xf32> dims [...] {of = @w, role = #par.role<gathered>, compute = ...}
    func.func @gather(%w: tensor<64x64xf32> {par.place = #par.place<variable @w>})
        -> (tensor<64x64xf32> {par.place = #par.place<variable @w.gathered>})
            attributes {par.phase = #par.phase<gather, chunk = 0>}
    func.func @forward(%w: tensor<64x64xf32> {par.place = #par.place<variable @w.gathered>}, ...)
    ```
  }];
  let dependentDialects = ["::mlir::par::ParDialect"];
}

def VerifyDifferentiated : Pass<"par-verify-differentiated", "::mlir::ModuleOp"> {
  let summary = "checks the form of docs/IR.md section 3";
  let description = [{
    Every violation is an error that names the pass that should have done the work. Nothing is changed.

    - (differentiated_c1) no `par.save` and no `par.recompute` is left, and every forward function has a backward
      function of its chunk
    - (differentiated_c2) residuals are numbered 0, 1, …; each one is taken by a backward function with the same type
      and sharding
    - (differentiated_c3) every parameter of a chunk has an accumulator, read and updated by its backward function,
      and by exactly one of backward_input and backward_weight
    - (differentiated_c4) the functions reduce, norm and update exist
  }];
}

#endif // PAR_TRANSFORMS_DIFFERENTIATE_PASSES
