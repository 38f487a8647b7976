//===- AttentionOps.td - scaled dot-product attention with grouped heads ------------------------------------===//
#ifndef PAR_ATTENTION_OPS
#define PAR_ATTENTION_OPS

include "par/Dialect/Par/IR/ParBase.td"

def Par_AttentionOp : Par_GraphOp<"attention", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<DifferentiableOpInterface>, DeclareOpInterfaceMethods<DropoutOpInterface, ["drops"]>,
    DeclareOpInterfaceMethods<LibraryOpInterface, ["getRowOperands", "getWorkName", "getWorkKind",
                                                   "countGradientPasses", "seesLaterRows", "noteSequences"]>],
    ["localize"], [], ["getFlops"]> {
  let summary = "out = dropout(softmax(cap(scale · q·kᵀ) + mask)) · v, and the logarithm of the softmax's denominator";
  let description = [{
    ```mlir
    %out, %lse = par.attention %q, %k, %v positions %qp, %kp {scale = 0.25, causal}
        : (tensor<8x128x2x3x16xf32>, tensor<8x128x2x16xf32>, tensor<8x128x2x16xf32>, tensor<128xi32>, tensor<128xi32>)
        -> (tensor<8x128x2x3x16xf32>, tensor<8x2x3x128xf32>)
    ```
    q [batch, q rows, kv_heads, group, head_dim]; k [batch, k rows, kv_heads, head_dim]; v as k, and out as q, with
    head_dim or another size; lse [batch, kv_heads, group, q rows]. Query head (h, g) uses kv head h.

    Rows are told by tables: `positions` of the rows of q and of k, and `documents` where they belong to several. All
    of them are [rows], for every entry of the batch, or [batch, rows]. Row i sees row j when (not `causal` or kp[j] ≤
    qp[i]) and (`window` = 0 or qp[i] − kp[j] < window) and (without documents or qd[i] = kd[j]).

    With `cap` > 0 a score s becomes cap · tanh(s / cap), before the mask (Gemma 2, 2408.00118). `sinks` [kv_heads,
    group] are scores of one more key per head that is seen by all rows and has no value: they are in the denominator
    alone (gpt-oss, 2508.10925; Xiao et al., 2309.17453). A row that sees none gives out 0, and lse −∞ or its sink.

    Dropout as par.dropout, over (batch, q rows, kv_heads, group, k rows). Rows of k need replication. (Vaswani et al.,
    1706.03762; GQA, 2305.13245; lse as in FlashAttention, 2205.14135.)

    **Constraints:**
    - (attention_c1) shapes agree as above; (attention_c2) a position per row, all tables for all of the batch or all
      for each entry
    - (attention_c3) dropout operands present exactly when `dropout` > 0; 5 `strides` and offsets then
    - (attention_c4) as many rows of q as of k, no documents and positions for all of the batch where `diagonal` says
      what the mask comes to: position i of both is p + i, so row i sees row j when (not `causal` or j ≤ i) and
      (`window` = 0 or i − j < window). An interpreter looks at the positions, too
    - (attention_c5) documents of both q and k or of none, of the positions' shapes
    - (attention_c6) `cap` is 0 or positive and finite; `window` is 0 or more
  }];
  let arguments = (ins Par_Float:$q, Par_Float:$k, Par_Float:$v, Par_Int:$q_positions, Par_Int:$k_positions,
                       Optional<Par_Int>:$q_documents, Optional<Par_Int>:$k_documents, Optional<Par_Float>:$sinks,
                       Optional<Par_Int>:$key, Optional<Par_ScalarI32>:$site, Optional<Par_ScalarI32>:$row,
                       Optional<Par_Int>:$offsets,
                       F64Attr:$scale, UnitAttr:$causal, DefaultValuedAttr<I64Attr, "0">:$window,
                       DefaultValuedAttr<F64Attr, "0.0">:$cap, DefaultValuedAttr<F64Attr, "0.0">:$dropout,
                       OptionalAttr<DenseI64ArrayAttr>:$strides, UnitAttr:$diagonal);
  let results = (outs Par_Float:$out, Par_F32:$lse);
  let assemblyFormat = [{
    $q `,` $k `,` $v `positions` $q_positions `,` $k_positions (`documents` $q_documents^ `,` $k_documents)?
    (`sinks` $sinks^)? (`dropout` $key^ `site` $site `row` $row `offsets` $offsets)? attr-dict `:`
    functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// Whether tables of rows are [batch, rows], for each entry of the batch.
    bool hasRowsPerEntry() { return getQPositions().getType().getRank() > 1; }
    /// Dimensions that dropout numbers: batch, q rows, kv_heads, group, k rows.
    static constexpr int64_t kDropoutDims = 5;
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
    With S = cap(scale·q·kᵀ) and P = exp(S − lse): dv = Σ Dᵀ(P)·dout, dP = D(dout·vᵀ), dS = P·(dP − Σ dout·out), times
    1 − (S / cap)² with a cap, dq = scale·dS·k, dk = Σ scale·dSᵀ·q (sums over the group for dk and dv; D = dropout).
    Sinks are in lse, which `sinks` says: P of a row does not add up to 1 then. Linear in dout.

    **Constraints:** (attention_backward_c1) types as in the forward op.
  }];
  let arguments = (ins Par_Float:$dout, Par_Float:$q, Par_Float:$k, Par_Float:$v, Par_Float:$out, Par_F32:$lse,
                       Par_Int:$q_positions, Par_Int:$k_positions, Optional<Par_Int>:$q_documents,
                       Optional<Par_Int>:$k_documents,
                       Optional<Par_Int>:$key, Optional<Par_ScalarI32>:$site, Optional<Par_ScalarI32>:$row,
                       Optional<Par_Int>:$offsets,
                       F64Attr:$scale, UnitAttr:$causal, DefaultValuedAttr<I64Attr, "0">:$window,
                       DefaultValuedAttr<F64Attr, "0.0">:$cap, DefaultValuedAttr<F64Attr, "0.0">:$dropout,
                       OptionalAttr<DenseI64ArrayAttr>:$strides, UnitAttr:$diagonal, UnitAttr:$sinks);
  let results = (outs Par_Float:$dq, Par_Float:$dk, Par_Float:$dv);
  let assemblyFormat = [{
    $dout `,` $q `,` $k `,` $v `,` $out `,` $lse `positions` $q_positions `,` $k_positions
    (`documents` $q_documents^ `,` $k_documents)?
    (`dropout` $key^ `site` $site `row` $row `offsets` $offsets)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// Whether tables of rows are [batch, rows], for each entry of the batch.
    bool hasRowsPerEntry() { return getQPositions().getType().getRank() > 1; }
  }];
}

#endif // PAR_ATTENTION_OPS
