//===- CrossEntropyOps.td - the loss ------------------------------------------------------------------------===//
#ifndef PAR_CROSS_ENTROPY_OPS
#define PAR_CROSS_ENTROPY_OPS

include "par/Dialect/Par/IR/ParBase.td"

def Par_CrossEntropyOp : Par_GraphOp<"cross_entropy", [DeclareOpInterfaceMethods<DifferentiableOpInterface>],
    ["localize", "getPaddingNeutral"], ["decompose"], ["getFlops"]> {
  let summary = "loss = lse(logits) − logits[target], 0 where target = −100; lse = log Σ exp(logits)";
  let description = [{
    ```mlir
    %loss, %lse = par.cross_entropy %logits, %targets {classes = 257}
        : (tensor<8x128x257xf32>, tensor<8x128xi32>) -> (tensor<8x128xf32>, tensor<8x128xf32>)
    ```
    Classes are the last dimension; those ≥ `classes` are padding and do not count. Factor `vocab` is a permutation:
    when split, each rank computes its `cross_entropy_shard` and three small all-reduces of one number per token
    complete it (Megatron-LM, 1909.08053).

    Any other target that is no class picks 0. Only the loss has a derivative.

    **Constraints:** (cross_entropy_c1) targets, loss and lse have all but the last dimension, loss and lse one type;
    (cross_entropy_c2) `classes` ≤ its size, > 0.
  }];
  let arguments = (ins Par_Float:$logits, Par_Int:$targets, I64Attr:$classes);
  let results = (outs Par_F32:$loss, Par_F32:$lse);
  let assemblyFormat = "$logits `,` $targets attr-dict `:` functional-type(operands, results)";
}

def Par_CrossEntropyShardOp : Par_GraphOp<"cross_entropy_shard", [], [], ["decompose"], ["getFlops"]> {
  let summary = "log Σ exp over the classes held here, and the target's logit or 0";
  let description = [{
    ```mlir
    %lse, %picked = par.cross_entropy_shard %logits, %targets offset %o {classes = 257} : (...) -> (...)
    ```
    Class number = offset + index; classes ≥ `classes` do not count; lse is −∞ when none is held. Created by
    `localize` of cross_entropy. **Constraints:** (cross_entropy_shard_c1) shapes as cross_entropy_c1; `classes` > 0.
  }];
  let arguments = (ins Par_Float:$logits, Par_Int:$targets, Par_ScalarI32:$offset, I64Attr:$classes);
  let results = (outs Par_F32:$lse, Par_F32:$picked);
  let assemblyFormat = "$logits `,` $targets `offset` $offset attr-dict `:` functional-type(operands, results)";
}

def Par_CrossEntropyBackwardOp : Par_GraphOp<"cross_entropy_backward", [], ["localize", "mapsZeroToZero",
    "clearsPadding"], ["decompose", "readsInPlace"], ["getFlops"]> {
  let summary = "dlogits = (exp(logits − lse) − onehot(target))·dloss, 0 where target = −100 or class ≥ `classes`";
  let description = [{
    ```mlir
    %d = par.cross_entropy_backward %dloss, %logits, %targets, %lse {classes = 257} : (...) -> tensor<8x128x257xf32>
    ```
    Linear in dloss. `offset` = class number of index 0 (partitioned). **Constraints:** (cross_entropy_backward_c1)
    shapes as in the forward op; `classes` > 0.
  }];
  let arguments = (ins Par_F32:$dloss, Par_Float:$logits, Par_Int:$targets, Par_F32:$lse,
      Optional<Par_ScalarI32>:$offset,
                       I64Attr:$classes);
  let results = (outs Par_Float:$dlogits);
  let assemblyFormat = [{
    $dloss `,` $logits `,` $targets `,` $lse (`offset` $offset^)? attr-dict `:` functional-type(operands, results)
  }];
}

#endif // PAR_CROSS_ENTROPY_OPS
