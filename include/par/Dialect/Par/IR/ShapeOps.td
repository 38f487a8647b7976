//===- ShapeOps.td - reductions, broadcasts and change of shape ---------------------------------------------===//
#ifndef PAR_SHAPE_OPS
#define PAR_SHAPE_OPS

include "par/Dialect/Par/IR/ParBase.td"

/// Ops that only move elements: cheap to recompute.
class Par_MoveOp<string mnemonic, list<string> kernel = []> : Par_GraphOp<mnemonic,
    [DeclareOpInterfaceMethods<DifferentiableOpInterface>], [], !listconcat(["emitElement"], kernel)>;

def Par_ReduceOp : Par_GraphOp<"reduce", [DeclareOpInterfaceMethods<DifferentiableOpInterface>],
    ["localize", "getPaddingNeutral"], ["emitElement", "mayWidenResults", "addsUpInMemory"], ["getFlops"]> {
  let summary = "sum, maximum or minimum over dimensions";
  let description = [{
    ```mlir
    %y = par.reduce sum %x dims [0, 1] : tensor<8x128x64xf32> -> tensor<64xf32>
    ```
    The derivative of a maximum or minimum is shared evenly among equal extremal elements. Integer maxima and minima
    begin at the type's least and greatest number. Sums of bf16 and f16 are taken in f32 and rounded once.

    **Constraints:** (reduce_c1) `dims` ascending and within rank; (reduce_c2) the result has the remaining dimensions
    and the operand's element type, or, of a sum of floating-point numbers, a wider one.
  }];
  let arguments = (ins Par_ReduceKindAttr:$kind, Par_Tensor:$input, DenseI64ArrayAttr:$dims);
  let results = (outs Par_Tensor:$result);
  let assemblyFormat = "$kind $input `dims` $dims attr-dict `:` type($input) `->` type($result)";
  let extraClassDeclaration = [{
    /// A sum that keeps some dimension inside a reduced one: columns, added up row by row.
    bool isOverLeading();
  }];
}

def Par_ExpandOp : Par_MoveOp<"expand"> {
  let summary = "repeats a tensor along new dimensions";
  let description = [{
    ```mlir
    %y = par.expand %x dims [0, 1] : tensor<64xf32> -> tensor<8x128x64xf32>
    ```
    `dims` are the dimensions of the result that the operand lacks.

    **Constraints:** (expand_c1) `dims` ascending and within the result's rank; (expand_c2) the remaining ones and the
    element type are the operand's.
  }];
  let arguments = (ins Par_Tensor:$input, DenseI64ArrayAttr:$dims);
  let results = (outs Par_Tensor:$result);
  let assemblyFormat = "$input `dims` $dims attr-dict `:` type($input) `->` type($result)";
}

def Par_ReshapeOp : Par_MoveOp<"reshape"> {
  let summary = "the same elements in row-major order under another shape";
  let description = [{
    ```mlir
    %y = par.reshape %x : tensor<8x128x64xf32> -> tensor<1024x64xf32>
    ```
    **Constraints:** (reshape_c1) equal numbers of elements, equal element types.
  }];
  let arguments = (ins Par_Tensor:$input);
  let results = (outs Par_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}

def Par_TransposeOp : Par_MoveOp<"transpose", ["keepsSteps"]> {
  let summary = "dimension i of the result is dimension `permutation[i]` of the operand";
  let description = [{
    ```mlir
    %y = par.transpose %x [1, 0] : tensor<8x64xf32> -> tensor<64x8xf32>
    ```
    **Constraints:** (transpose_c1) `permutation` is one; (transpose_c2) the result's shape follows, element types are
    equal.
  }];
  let arguments = (ins Par_Tensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs Par_Tensor:$result);
  let assemblyFormat = "$input $permutation attr-dict `:` type($input) `->` type($result)";
}

def Par_SliceOp : Par_MoveOp<"slice", ["keepsSteps"]> {
  let summary = "a box of a tensor";
  let description = [{
    ```mlir
    %y = par.slice %x from [0, 1] : tensor<8x64xf32> -> tensor<8x16xf32>
    ```
    A dimension that is cut needs replication; one taken whole passes through.

    **Constraints:** (slice_c1) the box lies within the operand; (slice_c2) equal element types.
  }];
  let arguments = (ins Par_Tensor:$input, DenseI64ArrayAttr:$offsets);
  let results = (outs Par_Tensor:$result);
  let assemblyFormat = "$input `from` $offsets attr-dict `:` type($input) `->` type($result)";
}

def Par_PadOp : Par_MoveOp<"pad", ["keepsSteps"]> {
  let summary = "a tensor within a larger one of zeros, beginning at `offsets`";
  let description = [{
    ```mlir
    %y = par.pad %x at [0, 1] : tensor<8x16xf32> -> tensor<8x64xf32>
    ```
    The transpose of `slice`. **Constraints:** (pad_c1) the operand lies within the result; (pad_c2) equal element
    types.
  }];
  let arguments = (ins Par_Tensor:$input, DenseI64ArrayAttr:$offsets);
  let results = (outs Par_Tensor:$result);
  let assemblyFormat = "$input `at` $offsets attr-dict `:` type($input) `->` type($result)";
}

def Par_ConcatOp : Par_MoveOp<"concat"> {
  let summary = "tensors one after another along `dim`";
  let description = [{
    ```mlir
    %y = par.concat %a, %b dim 0 : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
    ```
    **Constraints:** (concat_c1) at least one operand; (concat_c2) `dim` within rank, all other dimensions and the
    element types equal; (concat_c3) sizes along `dim` add up.
  }];
  let arguments = (ins Variadic<Par_Tensor>:$inputs, I64Attr:$dim);
  let results = (outs Par_Tensor:$result);
  let assemblyFormat = "$inputs `dim` $dim attr-dict `:` functional-type($inputs, $result)";
}

def Par_IotaOp : Par_GraphOp<"iota", [DeclareOpInterfaceMethods<DifferentiableOpInterface>],
    ["localize"], ["emitElement"]> {
  let summary = "every element is its index along `dim`";
  let description = [{
    ```mlir
    %p = par.iota dim 0 : tensor<128xi32>
    ```
    The one op that knows positions; its `localize` adds the rank's offset. **Constraints:** (iota_c1) `dim` within
    rank.
  }];
  let arguments = (ins I64Attr:$dim);
  let results = (outs Par_Int:$result);
  let assemblyFormat = "`dim` $dim attr-dict `:` type($result)";
}

#endif // PAR_SHAPE_OPS
