//===- RotaryOps.td - rotary position embedding -------------------------------------------------------------===//
#ifndef PAR_ROTARY_OPS
#define PAR_ROTARY_OPS

include "par/Dialect/Par/IR/ParBase.td"

def Par_RotaryOp : Par_GraphOp<"rotary", [DeclareOpInterfaceMethods<DifferentiableOpInterface,
    ["isCheapToRecompute"]>],
    [], ["decompose"]> {
  let summary = "rotates halves of the last dimension by position (Su et al., 2104.09864)";
  let description = [{
    ```mlir
    %y = par.rotary %x, %positions {frequencies = array<f64: 1.0, 0.1>}
        : (tensor<8x128x2x4xf32>, tensor<128xi32>) -> tensor<8x128x2x4xf32>
    ```
    Dimension 1 is the sequence. With d the last size and θ = position · frequencies[i], i < d/2: y[i] = x[i]·cos θ −
    x[i+d/2]·sin θ, y[i+d/2] = x[i+d/2]·cos θ + x[i]·sin θ. With `transposed`, θ is negated: the derivative. Scaled
    variants (Llama 3) differ only in `frequencies`, which the importer computes. Linear in x.

    **Constraints:** (rotary_c1) rank ≥ 3, last size even; (rotary_c2) d/2 frequencies; (rotary_c3) a position per row
    of dimension 1; (rotary_c4) the result has x's type.
  }];
  let arguments = (ins Par_Float:$input, Par_Int:$positions, DenseF64ArrayAttr:$frequencies, UnitAttr:$transposed);
  let results = (outs Par_Float:$result);
  let assemblyFormat = "$input `,` $positions attr-dict `:` functional-type(operands, $result)";
}

#endif // PAR_ROTARY_OPS
