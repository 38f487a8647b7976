//===- NormOps.td - normalisation over the last dimension ---------------------------------------------------===//
#ifndef PAR_NORM_OPS
#define PAR_NORM_OPS

include "par/Dialect/Par/IR/ParBase.td"

def Par_LayerNormOp : Par_GraphOp<"layer_norm", [DeclareOpInterfaceMethods<DifferentiableOpInterface>], [],
    ["decompose", "writesBeforeItReads"]> {
  let summary = "y = weight · (x − mean) / √(var + eps) + bias over the last dimension, biased variance";
  let description = [{
    ```mlir
    %y, %mean, %rstd = par.layer_norm %x, %w, %b {eps = 1.0e-5} : (...) -> (...)
    ```
    (Ba et al., 1607.06450.) **Constraints:** (layer_norm_c1) weight and bias have the last dimension's size;
    (layer_norm_c2) mean and rstd have all but the last dimension.
  }];
  let arguments = (ins Par_Float:$input, Par_Float:$weight, Par_Float:$bias, F64Attr:$eps);
  let results = (outs Par_Float:$result, Par_F32:$mean, Par_F32:$rstd);
  let assemblyFormat = "$input `,` $weight `,` $bias attr-dict `:` functional-type(operands, results)";
}

def Par_LayerNormBackwardOp : Par_GraphOp<"layer_norm_backward", [], [],
    ["decompose", "mayWidenResults", "addsUpInMemory"]> {
  let summary = "dx = rstd·(w·dy − mean(w·dy) − x̂·mean(w·dy·x̂)), dweight = Σ dy·x̂, dbias = Σ dy";
  let description = [{
    ```mlir
    %dx, %dw, %db = par.layer_norm_backward %dy, %x, %w, %mean, %rstd : (...) -> (...)
    ```
    Linear in `dy`. **Constraints:** (layer_norm_backward_c1) shapes as in the forward op; dweight and dbias may be
    wider than the parameters.
  }];
  let arguments = (ins Par_Float:$dy, Par_Float:$input, Par_Float:$weight, Par_F32:$mean, Par_F32:$rstd);
  let results = (outs Par_Float:$dx, Par_Float:$dweight, Par_Float:$dbias);
  let assemblyFormat = [{
    $dy `,` $input `,` $weight `,` $mean `,` $rstd attr-dict `:` functional-type(operands, results)
  }];
}

def Par_StandardizeOp : Par_GraphOp<"standardize", [DeclareOpInterfaceMethods<DifferentiableOpInterface>], [],
    ["decompose", "writesBeforeItReads"]> {
  let summary = "y = (x − mean) / √(var + eps) over the last dimension, biased variance";
  let description = [{
    ```mlir
    %y, %mean, %rstd = par.standardize %x {eps = 1.0e-5} : (...) -> (...)
    ```
    A layer norm without parameters, as OLMo has it (2402.00838). **Constraints:** (standardize_c1) the result has the
    input's shape, of rank 1 at least; (standardize_c2) mean and rstd have all but the last dimension.
  }];
  let arguments = (ins Par_Float:$input, F64Attr:$eps);
  let results = (outs Par_Float:$result, Par_F32:$mean, Par_F32:$rstd);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

def Par_StandardizeBackwardOp : Par_GraphOp<"standardize_backward", [], [], ["decompose"]> {
  let summary = "dx = rstd·(dy − mean(dy) − x̂·mean(dy·x̂)) with x̂ = (x − mean)·rstd";
  let description = [{
    ```mlir
    %dx = par.standardize_backward %dy, %x, %mean, %rstd : (...) -> (tensor<8x128x64xf32>)
    ```
    Linear in `dy`. **Constraints:** (standardize_backward_c1) shapes as in the forward op.
  }];
  let arguments = (ins Par_Float:$dy, Par_Float:$input, Par_F32:$mean, Par_F32:$rstd);
  let results = (outs Par_Float:$dx);
  let assemblyFormat = "$dy `,` $input `,` $mean `,` $rstd attr-dict `:` functional-type(operands, results)";
}

#endif // PAR_NORM_OPS
