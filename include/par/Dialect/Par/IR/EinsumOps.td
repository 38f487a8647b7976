//===- EinsumOps.td - contractions --------------------------------------------------------------------------===//
#ifndef PAR_EINSUM_OPS
#define PAR_EINSUM_OPS

include "par/Dialect/Par/IR/ParBase.td"

def Par_EinsumOp : Par_GraphOp<"einsum", [DeclareOpInterfaceMethods<DifferentiableOpInterface>], [],
    ["getKernelKind", "emitElement", "mayWidenResults"], ["getFlops"]> {
  let summary = "sum of products over the letters that the result lacks";
  let description = [{
    ```mlir
    %y = par.einsum "bse,me->bsm"(%x, %w) : (tensor<8x128x64xf32>, tensor<256x64xf32>) -> tensor<8x128x256xf32>
    ```
    One letter per dimension. Two operands make a (batched) GEMM. Rule, derivative, cost and GEMM follow from the
    equation. `acc_type` is the type of the sum (absent: f32 for bf16, else the result's). The result may have another
    element type than the operands: it is rounded once, from the sum.

    **Constraints:**
    - (einsum_c1) the equation is `letters(,letters)*->letters` with one group per operand
    - (einsum_c2) a letter per dimension, none twice in a tensor
    - (einsum_c3) a letter has one size
    - (einsum_c4) every letter of the result is in some operand
    - (einsum_c5) floating-point operands of one element type
  }];
  let arguments = (ins StrAttr:$equation, Variadic<Par_Float>:$inputs, OptionalAttr<TypeAttr>:$acc_type);
  let results = (outs Par_Float:$result);
  let assemblyFormat = "$equation `(` $inputs `)` attr-dict `:` functional-type($inputs, $result)";
  let extraClassDeclaration = [{
    /// The letters of every operand, then those of the result.
    ::llvm::SmallVector<::llvm::StringRef> getOperandLetters();
    ::llvm::StringRef getResultLetters();
    /// Size of a letter.
    int64_t getLetterSize(char letter);
  }];
}

#endif // PAR_EINSUM_OPS
