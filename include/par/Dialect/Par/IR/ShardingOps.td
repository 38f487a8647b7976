//===- ShardingOps.td - intent, change of sharding, coordinates ---------------------------------------------===//
#ifndef PAR_SHARDING_OPS
#define PAR_SHARDING_OPS

include "par/Dialect/Par/IR/ParBase.td"

def Par_ConstrainOp : Par_GraphOp<"constrain", [SameOperandsAndResultType,
    DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "states how a value shall be sharded";
  let description = [{
    ```mlir
    %y = par.constrain %x <@mesh, [{"dp"}, {}, {?} ]> : tensor<8x128x64xf32>
    ```
    Written by annotation passes and users; propagation takes it as given (closed dimensions stay as they are). The
    transpose constrains dimensions only. Removed by `par-insert-reshards`.

    **Constraints:**
    - (constrain_c1) the sharding fits mesh and rank (sharding_c1, sharding_c3)
  }];
  let arguments = (ins Par_Tensor:$input, Par_ShardingAttr:$sharding);
  let results = (outs Par_Tensor:$result);
  let assemblyFormat = "$input $sharding attr-dict `:` type($result)";
}

def Par_ReshardOp : Par_GraphOp<"reshard"> {
  let summary = "the same value in another sharding";
  let description = [{
    ```mlir
    %y = par.reshard %x <@mesh, [{"dp"}, {}, {} ]> {par.cause = "…"} : tensor<8x128x64xf32> -> tensor<8x128x64xf32>
    ```
    From the sharding of the operand to `target`. Source and target may differ in padding (suffix of a dimension),
    which is cut or filled with zeros; `logical` is the shape without padding and is set when types are padded.
    Replicated → unreduced keeps coordinate 0 and zeroes the rest. Created by `par-insert-reshards`, turned into
    collectives by `par-partition`.

    **Constraints:**
    - (reshard_c1) equal element type and rank; sizes differ only by padding beyond `logical`
    - (reshard_c2) the target fits mesh and rank (sharding_c1, sharding_c3)
  }];
  let arguments = (ins Par_Tensor:$input, Par_ShardingAttr:$target, OptionalAttr<DenseI64ArrayAttr>:$logical);
  let results = (outs Par_Tensor:$result);
  let assemblyFormat = "$input $target attr-dict `:` type($input) `->` type($result)";
}

def Par_AxisIndexOp : Par_Op<"axis_index", [Pure, DeclareOpInterfaceMethods<InterpretableOpInterface>,
    DeclareOpInterfaceMethods<KernelOpInterface, ["emitElement", "usesCoordinates"]>]> {
  let summary = "coordinate of this rank on a mesh axis";
  let description = [{
    ```mlir
    %i = par.axis_index "tp" : tensor<i32>
    ```
    Exists only after partitioning. **Constraints:** (axis_index_c1) the axis is one of the mesh.
  }];
  let arguments = (ins StrAttr:$axis);
  let results = (outs Par_ScalarI32:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}

def Par_TransferOp : Par_GraphOp<"transfer", [SameOperandsAndResultType,
    DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "the same value in another memory space";
  let description = [{
    ```mlir
    %y = par.transfer %x to <host> : tensor<8x4xf32>
    ```
    With `par.started` it runs beside what follows, up to the `par.wait` of its result.

    **Constraints:** (transfer_c1) the result of a started one is the operand of one par.wait of its block, and of
    nothing else.
  }];
  let arguments = (ins Par_Tensor:$input, Par_MemorySpaceAttr:$space);
  let results = (outs Par_Tensor:$result);
  let assemblyFormat = "$input `to` $space attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif // PAR_SHARDING_OPS
