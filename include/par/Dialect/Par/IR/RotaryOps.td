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
    Dimension 1 is the sequence; positions are those of all sequences of the batch, or [batch, sequence]. With n
    frequencies and θ = position · frequencies[i], i < n: y[i] = x[i]·cos θ − x[i+n]·sin θ, y[i+n] = x[i+n]·cos θ +
    x[i]·sin θ, each times `factor` (YaRN's attention factor, Peng et al., 2309.00071). Elements from 2n on stay as
    they are: positions of part of a head. With `transposed`, θ is negated: the derivative. Scaled variants (Llama 3,
    YaRN) differ only in `frequencies`, which the importer computes. Linear in x.

    **Constraints:** (rotary_c1) rank ≥ 3; (rotary_c2) 1 frequency at least, and at most half of the last size;
    (rotary_c3) a position per row of dimension 1, for all of the batch or each entry; (rotary_c4) the result has x's
    type.
  }];
  let arguments = (ins Par_Float:$input, Par_Int:$positions, DenseF64ArrayAttr:$frequencies, UnitAttr:$transposed,
                       DefaultValuedAttr<F64Attr, "1.0">:$factor);
  let results = (outs Par_Float:$result);
  let assemblyFormat = "$input `,` $positions attr-dict `:` functional-type(operands, $result)";
}

def Par_RotaryTablesOp : Par_GraphOp<"rotary_tables", [], [], ["decompose"]> {
  let summary = "cosines and sines of what rotary positions rotate by";
  let description = [{
    ```mlir
    %cosines, %sines = par.rotary_tables %positions {frequencies = array<f64: 1.0, 0.1>}
        : (tensor<128xi32>) -> (tensor<128x2xf32>, tensor<128x2xf32>)
    ```
    cos and sin of position · frequencies[i], times `factor`: what all layers and heads that `par.rotary` rotates have
    in common (par-hoist-constants).

    **Constraints:** (rotary_tables_c1) both results have a row per position and a column per frequency.
  }];
  let arguments = (ins Par_Int:$positions, DenseF64ArrayAttr:$frequencies,
                       DefaultValuedAttr<F64Attr, "1.0">:$factor);
  let results = (outs Par_Float:$cosines, Par_Float:$sines);
  let assemblyFormat = "$positions attr-dict `:` functional-type(operands, results)";
}

def Par_RotateOp : Par_GraphOp<"rotate", [], [], ["decompose"]> {
  let summary = "par.rotary by tables of cosines and sines";
  let description = [{
    ```mlir
    %y = par.rotate %x, %cosines, %sines
        : (tensor<8x128x2x4xf32>, tensor<128x2xf32>, tensor<128x2xf32>) -> tensor<8x128x2x4xf32>
    ```
    As `par.rotary`, with the tables of `par.rotary_tables`. With `transposed`, sines are negated.

    **Constraints:** (rotate_c1) rank ≥ 3; (rotate_c2) both tables have a row per row of dimension 1, for all of the
    batch or each entry, and at most half as many columns as the last size; (rotate_c3) the result has x's type.
  }];
  let arguments = (ins Par_Float:$input, Par_Float:$cosines, Par_Float:$sines, UnitAttr:$transposed);
  let results = (outs Par_Float:$result);
  let assemblyFormat = "$input `,` $cosines `,` $sines attr-dict `:` functional-type(operands, $result)";
}

#endif // PAR_ROTARY_OPS
