//===- AttentionOps.td - scaled dot-product attention with grouped heads ------------------------------------===//
#ifndef PAR_ATTENTION_OPS
#define PAR_ATTENTION_OPS

include "par/Dialect/Par/IR/ParBase.td"

def Par_AttentionOp : Par_GraphOp<"attention", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<DifferentiableOpInterface>, DeclareOpInterfaceMethods<DropoutOpInterface, ["drops"]>,
    DeclareOpInterfaceMethods<LibraryOpInterface, ["getRowOperands", "getWorkName", "getWorkKind",
                                                   "countGradientPasses", "seesLaterRows", "noteSequences"]>],
    ["localize"], [], ["getFlops"]> {
  let summary = "out = dropout(softmax(scale · q·kᵀ + mask)) · v, and the logarithm of the softmax's denominator";
  let description = [{
    ```mlir
    %out, %lse = par.attention %q, %k, %v positions %qp, %kp {scale = 0.25, causal}
        : (tensor<8x128x2x3x16xf32>, tensor<8x128x2x16xf32>, tensor<8x128x2x16xf32>, tensor<128xi32>, tensor<128xi32>)
        -> (tensor<8x128x2x3x16xf32>, tensor<8x2x3x128xf32>)
    ```
    q and out [batch, q rows, kv_heads, group, head_dim]; k and v [batch, k rows, kv_heads, head_dim]; lse [batch,
    kv_heads, group, q rows]. Query head (h, g) uses kv head h. Row i sees row j when (not `causal` or kp[j] ≤ qp[i])
    and (`window` = 0 or qp[i] − kp[j] < window). A row that sees none gives out 0 and lse −∞. Dropout as par.dropout,
    over (batch, q rows, kv_heads, group, k rows). Rows of k need replication. (Vaswani et al., 1706.03762; GQA,
    2305.13245; lse as in FlashAttention, 2205.14135.)

    **Constraints:**
    - (attention_c1) shapes agree as above; (attention_c2) a position per row
    - (attention_c3) dropout operands present exactly when `dropout` > 0; 5 `strides` and offsets then
    - (attention_c4) as many rows of q as of k where `diagonal` says what the mask comes to: position i of both is p
      + i, so row i sees row j when (not `causal` or j ≤ i) and (`window` = 0 or i − j < window). An interpreter looks
      at the positions, too
  }];
  let arguments = (ins Par_Float:$q, Par_Float:$k, Par_Float:$v, Par_Int:$q_positions, Par_Int:$k_positions,
                       Optional<Par_Int>:$key, Optional<Par_ScalarI32>:$site, Optional<Par_ScalarI32>:$row,
                       Optional<Par_Int>:$offsets,
                       F64Attr:$scale, UnitAttr:$causal, DefaultValuedAttr<I64Attr, "0">:$window,
                       DefaultValuedAttr<F64Attr, "0.0">:$dropout, OptionalAttr<DenseI64ArrayAttr>:$strides,
                       UnitAttr:$diagonal);
  let results = (outs Par_Float:$out, Par_F32:$lse);
  let assemblyFormat = [{
    $q `,` $k `,` $v `positions` $q_positions `,` $k_positions
    (`dropout` $key^ `site` $site `row` $row `offsets` $offsets)? attr-dict `:` functional-type(operands, results)
  }];
}

def Par_AttentionBackwardOp : Par_GraphOp<"attention_backward", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<LibraryOpInterface, ["getRowOperands", "getRowResults", "getWorkName", "getWorkKind",
                                                   "seesLaterRows", "noteSequences"]>],
    ["localize"], [], ["getFlops"]> {
  let summary = "gradients of q, k and v from the saved out and lse";
  let description = [{
    ```mlir
    %dq, %dk, %dv = par.attention_backward %dout, %q, %k, %v, %out, %lse positions %qp, %kp
        {scale = 0.25, causal} : (...) -> (...)
    ```
    P = exp(scale·q·kᵀ − lse), dv = Σ Dᵀ(P)·dout, dP = D(dout·vᵀ), dS = P·(dP − Σ dout·out), dq = scale·dS·k, dk = Σ
    scale·dSᵀ·q (sums over the group for dk and dv; D = dropout). Linear in dout. **Constraints:**
    (attention_backward_c1) types as in the forward op.
  }];
  let arguments = (ins Par_Float:$dout, Par_Float:$q, Par_Float:$k, Par_Float:$v, Par_Float:$out, Par_F32:$lse,
                       Par_Int:$q_positions, Par_Int:$k_positions,
                       Optional<Par_Int>:$key, Optional<Par_ScalarI32>:$site, Optional<Par_ScalarI32>:$row,
                       Optional<Par_Int>:$offsets,
                       F64Attr:$scale, UnitAttr:$causal, DefaultValuedAttr<I64Attr, "0">:$window,
                       DefaultValuedAttr<F64Attr, "0.0">:$dropout, OptionalAttr<DenseI64ArrayAttr>:$strides,
                       UnitAttr:$diagonal);
  let results = (outs Par_Float:$dq, Par_Float:$dk, Par_Float:$dv);
  let assemblyFormat = [{
    $dout `,` $q `,` $k `,` $v `,` $out `,` $lse `positions` $q_positions `,` $k_positions
    (`dropout` $key^ `site` $site `row` $row `offsets` $offsets)? attr-dict `:` functional-type(operands, results)
  }];
}

#endif // PAR_ATTENTION_OPS
