//===- RmsNormOps.td - normalisation by the root of the mean square -----------------------------------------===//
#ifndef PAR_RMS_NORM_OPS
#define PAR_RMS_NORM_OPS

include "par/Dialect/Par/IR/ParBase.td"

def Par_RmsNormOp : Par_GraphOp<"rms_norm", [DeclareOpInterfaceMethods<DifferentiableOpInterface>], ["localize"],
    ["decompose", "writesBeforeItReads"]> {
  let summary = "y = (weight + offset) · x / √(mean(x²) + eps) over the last dimensions, those of the weight";
  let description = [{
    ```mlir
    %y, %rstd = par.rms_norm %x, %w {eps = 1.0e-5}
        : (tensor<8x128x64xf32>, tensor<64xf32>) -> (tensor<8x128x64xf32>, tensor<8x128xf32>)
    ```
    Also gives rstd = 1/√(mean(x²) + eps), saved for the backward pass. Not linear. (Zhang and Sennrich, 1910.07467.)
    A weight of [heads, group, head_dim] normalises all heads together (OLMo 2); where heads are split, ranks exchange
    one sum of squares per row. Their padding is zero, and `count` says how many elements of a row are none. `offset` is
    1 where files hold the weight less one (Gemma). The product is computed in f32 and rounded once.

    **Constraints:** (rms_norm_c1) the weight has the shape of the input's last dimensions; (rms_norm_c2) rstd has the
    dimensions before them; (rms_norm_c3) `count` is from 1 to the number of the weight's elements,
    and given for a weight of several dimensions.
  }];
  let arguments = (ins Par_Float:$input, Par_Float:$weight, F64Attr:$eps,
                       DefaultValuedAttr<F64Attr, "0.0">:$offset, OptionalAttr<I64Attr>:$count);
  let results = (outs Par_Float:$result, Par_F32:$rstd);
  let assemblyFormat = "$input `,` $weight attr-dict `:` functional-type(operands, results)";
}

def Par_RmsNormBackwardOp : Par_GraphOp<"rms_norm_backward", [], ["localize"],
    ["decompose", "mayWidenResults", "addsUpInMemory"]> {
  let summary = "dx = rstd·(w·dy − x̂·mean(w·dy·x̂)), dweight = Σ dy·x̂ with x̂ = x·rstd, w = weight + offset";
  let description = [{
    ```mlir
    %dx, %dw = par.rms_norm_backward %dy, %x, %w, %rstd : (...) -> (tensor<8x128x64xf32>, tensor<64xf32>)
    ```
    Linear in `dy`. **Constraints:** (rms_norm_backward_c1) shapes as in the forward op; dweight may be wider than the
    weight.
  }];
  let arguments = (ins Par_Float:$dy, Par_Float:$input, Par_Float:$weight, Par_F32:$rstd,
                       DefaultValuedAttr<F64Attr, "0.0">:$offset, OptionalAttr<I64Attr>:$count);
  let results = (outs Par_Float:$dx, Par_Float:$dweight);
  let assemblyFormat = "$dy `,` $input `,` $weight `,` $rstd attr-dict `:` functional-type(operands, results)";
}

#endif // PAR_RMS_NORM_OPS
