//===- DropoutOps.td - reproducible dropout -----------------------------------------------------------------===//
#ifndef PAR_DROPOUT_OPS
#define PAR_DROPOUT_OPS

include "par/Dialect/Par/IR/ParBase.td"

def Par_DropoutOp : Par_GraphOp<"dropout", [DeclareOpInterfaceMethods<DifferentiableOpInterface>,
    DeclareOpInterfaceMethods<DropoutOpInterface>],
    ["localize"], ["emitElement"]> {
  let summary = "keeps an element with probability 1 − p and scales it by 1/(1 − p)";
  let description = [{
    ```mlir
    %y = par.dropout %x key %key site %site row %row offsets %o {p = 0.1, strides = array<i64: 0, 64, 1>}
        : (tensor<8x128x64xf32>, tensor<2xi32>, tensor<i32>, tensor<i32>, tensor<3xi32>) -> tensor<8x128x64xf32>
    ```
    Element (i0, i1, …) is number e = Σ_{d≥1} (offsets[d] + i_d)·strides[d] of row r = row + offsets[0] + i0 in the
    step; it is kept when word 0 of Philox4x32-10 with counter (low e, high e, r, site) and key `key` is ≥ p·2³². So
    masks are equal for every mesh and micro-batching, and the backward pass and recomputation draw them again.
    Dimension 0 is the batch. Linear in x.

    **Constraints:** (dropout_c1) 0 ≤ p < 1; (dropout_c2) a stride and an offset per dimension; (dropout_c3) key has
    two words; (dropout_c4) the result has x's type.
  }];
  let arguments = (ins Par_Float:$input, Par_Int:$key, Par_ScalarI32:$site, Par_ScalarI32:$row, Par_Int:$offsets,
                       F64Attr:$p, DenseI64ArrayAttr:$strides);
  let results = (outs Par_Float:$result);
  let assemblyFormat = [{
    $input `key` $key `site` $site `row` $row `offsets` $offsets attr-dict `:` functional-type(operands, $result)
  }];
}

#endif // PAR_DROPOUT_OPS
