//===- OptimizerOps.td - parameter updates ------------------------------------------------------------------===//
#ifndef PAR_OPTIMIZER_OPS
#define PAR_OPTIMIZER_OPS

include "par/Dialect/Par/IR/ParBase.td"

def Par_AdamWOp : Par_GraphOp<"adamw", [], ["mapsZeroToZero"], ["decompose", "readsInPlace"]> {
  let summary = "one AdamW step (Loshchilov and Hutter, 1711.05101), as PyTorch computes it";
  let description = [{
    g = clip·grad; p ← p·(1 − lr·weight_decay) if `decay`; m ← β1·m + (1−β1)·g; v ← β2·v + (1−β2)·g²;
    p ← p − lr·(m/bias1)/(√(v/bias2) + eps). Scalars are tensors of rank 0, bias1 = 1 − β1^step, bias2 = 1 − β2^step.
    ```mlir
    %p1, %m1, %v1 = par.adamw %p, %g, %m, %v scalars %lr, %b1, %b2, %eps, %wd, %bias1, %bias2, %clip
        {decay} : (...) -> (...)
    ```
    Computed in f32 at least, whatever the types. Where p is the master of a narrower parameter (Micikevicius et al.,
    1710.03740), a fourth result is the new parameter: p rounded to its type.

    **Constraints:** (adamw_c1) param, grad, m, v and results have one shape.
  }];
  let arguments = (ins Par_Float:$param, Par_Float:$grad, Par_Float:$m, Par_Float:$v, Par_ScalarF32:$lr,
      Par_ScalarF32:$beta1,
                       Par_ScalarF32:$beta2, Par_ScalarF32:$eps, Par_ScalarF32:$weight_decay, Par_ScalarF32:$bias1,
                       Par_ScalarF32:$bias2, Par_ScalarF32:$clip, UnitAttr:$decay);
  let results = (outs Par_Float:$new_param, Par_Float:$new_m, Par_Float:$new_v, Optional<Par_Float>:$rounded);
  let assemblyFormat = [{
    $param `,` $grad `,` $m `,` $v `scalars` $lr `,` $beta1 `,` $beta2 `,` $eps `,` $weight_decay `,` $bias1 `,` $bias2
    `,` $clip
    attr-dict `:` functional-type(operands, results)
  }];
}

def Par_SgdOp : Par_GraphOp<"sgd", [], ["mapsZeroToZero"], ["decompose", "readsInPlace"]> {
  let summary = "p ← p − lr·(clip·grad + weight_decay·p), the decay only with `decay`";
  let description = [{
    ```mlir
    %p1 = par.sgd %p, %g scalars %lr, %wd, %clip {decay} : (...) -> tensor<64xf32>
    ```
    A second result as the fourth of par.adamw. **Constraints:** (sgd_c1) param, grad and results have one shape.
  }];
  let arguments = (ins Par_Float:$param, Par_Float:$grad, Par_ScalarF32:$lr, Par_ScalarF32:$weight_decay,
      Par_ScalarF32:$clip,
                       UnitAttr:$decay);
  let results = (outs Par_Float:$new_param, Optional<Par_Float>:$rounded);
  let assemblyFormat = [{
    $param `,` $grad `scalars` $lr `,` $weight_decay `,` $clip attr-dict `:` functional-type(operands, results)
  }];
}

#endif // PAR_OPTIMIZER_OPS
