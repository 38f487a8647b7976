//===- CollectiveOps.td - exchange of data between ranks ----------------------------------------------------===//
#ifndef PAR_COLLECTIVE_OPS
#define PAR_COLLECTIVE_OPS

include "par/Dialect/Par/IR/ParBase.td"

/// The group of a rank are the ranks that differ from it only on `axes`, in row-major order over the axes as listed
/// (n members). Several tensors travel together (bucketing); tensor i of the results belongs to tensor i of the
/// operands. All collectives: (collective_c1) axes of the mesh, none twice, at least one; (collective_c2) as many
/// results as operands, equal element types. `par.cause` says which annotation and op asked for it.
///
/// With the unit attribute `par.started` (par-overlap-collectives) a collective only begins: its results are there
/// behind the `par.wait` that takes them. (collective_c3) all results of a started collective, in order, are the
/// operands of one par.wait of the same block, and nobody else uses them.
class Par_CollectiveOp<string mnemonic, list<Trait> traits = []>
    : Par_Op<mnemonic, !listconcat(traits, [Pure, DeclareOpInterfaceMethods<CollectiveOpInterface>,
        DeclareOpInterfaceMethods<KernelOpInterface>])> {
  let results = (outs Variadic<Par_Tensor>:$results);
}

def Par_AllReduceOp : Par_CollectiveOp<"all_reduce"> {
  let summary = "every member gets the reduction of all members' tensors";
  let description = [{
    ```
            device 0  1        all_reduce sum        device 0  1
                   2  3        ------------->               5  5
    ```
    ```mlir
    %r = par.all_reduce sum over ["tp"] %z : (tensor<4x64xf32>) -> tensor<4x64xf32>
    ```
    **Constraints:** (all_reduce_c1) result types equal operand types.
  }];
  let arguments = (ins Par_ReduceKindAttr:$kind, StrArrayAttr:$axes, Variadic<Par_Tensor>:$inputs);
  let assemblyFormat = "$kind `over` $axes $inputs attr-dict `:` functional-type($inputs, $results)";
  let extraClassDeclaration = "static bool worksInPlace() { return true; }";
}

def Par_ReduceScatterOp : Par_CollectiveOp<"reduce_scatter"> {
  let summary = "the sum of all members' tensors, each member getting its block along `dim`";
  let description = [{
    ```mlir
    %r = par.reduce_scatter over ["dp"] dim 0 %z : (tensor<4x64xf32>) -> tensor<2x64xf32>
    ```
    **Constraints:** (reduce_scatter_c1) `dim` of the result is 1/n of the operand's, all others equal.
  }];
  let arguments = (ins StrArrayAttr:$axes, I64Attr:$dim, Variadic<Par_Tensor>:$inputs);
  let assemblyFormat = "`over` $axes `dim` $dim $inputs attr-dict `:` functional-type($inputs, $results)";
}

def Par_AllGatherOp : Par_CollectiveOp<"all_gather"> {
  let summary = "every member gets all members' tensors, concatenated along `dim`";
  let description = [{
    ```mlir
    %r = par.all_gather over ["dp"] dim 0 %z : (tensor<2x64xf32>) -> tensor<4x64xf32>
    ```
    **Constraints:** (all_gather_c1) `dim` of the result is n times the operand's, all others equal.
  }];
  let arguments = (ins StrArrayAttr:$axes, I64Attr:$dim, Variadic<Par_Tensor>:$inputs);
  let assemblyFormat = "`over` $axes `dim` $dim $inputs attr-dict `:` functional-type($inputs, $results)";
}

def Par_AllToAllOp : Par_CollectiveOp<"all_to_all"> {
  let summary = "member i sends block j along `split` to member j, which concatenates along `concat`";
  let description = [{
    ```mlir
    %r = par.all_to_all over ["cp"] split 0 concat 1 %z : (tensor<4x64xf32>) -> tensor<2x128xf32>
    ```
    **Constraints:** (all_to_all_c1) `split` is 1/n, `concat` n times the operand's (equal if the same dimension).
  }];
  let arguments = (ins StrArrayAttr:$axes, I64Attr:$split, I64Attr:$concat, Variadic<Par_Tensor>:$inputs);
  let assemblyFormat = [{
    `over` $axes `split` $split `concat` $concat $inputs attr-dict `:` functional-type($inputs, $results)
  }];
}

def Par_PermuteOp : Par_CollectiveOp<"permute"> {
  let summary = "member i sends its tensor to member `permutation[i]`";
  let description = [{
    ```mlir
    %r = par.permute over ["cp"] to [1, 0] %z : (tensor<4xf32>) -> tensor<4xf32>
    ```
    −1 sends nothing; who receives nothing gets zeros. **Constraints:** (permute_c1) n entries, each −1 or a member,
    none twice; (permute_c2) result types equal operand types.
  }];
  let arguments = (ins StrArrayAttr:$axes, DenseI64ArrayAttr:$permutation, Variadic<Par_Tensor>:$inputs);
  let assemblyFormat = "`over` $axes `to` $permutation $inputs attr-dict `:` functional-type($inputs, $results)";
}

def Par_CollectiveBroadcastOp : Par_CollectiveOp<"collective_broadcast"> {
  let summary = "every member gets the tensor of member `root`";
  let description = [{
    **Constraints:** (collective_broadcast_c1) `root` is a member; (collective_broadcast_c2) equal types.
  }];
  let arguments = (ins StrArrayAttr:$axes, I64Attr:$root, Variadic<Par_Tensor>:$inputs);
  let assemblyFormat = "`over` $axes `root` $root $inputs attr-dict `:` functional-type($inputs, $results)";
}

def Par_ReduceToOp : Par_CollectiveOp<"reduce_to"> {
  let summary = "member `root` gets the sum of all members' tensors, the others zeros";
  let description = [{ **Constraints:** (reduce_to_c1) `root` is a member; (reduce_to_c2) equal types. }];
  let arguments = (ins StrArrayAttr:$axes, I64Attr:$root, Variadic<Par_Tensor>:$inputs);
  let assemblyFormat = "`over` $axes `root` $root $inputs attr-dict `:` functional-type($inputs, $results)";
}

def Par_GatherOp : Par_CollectiveOp<"gather"> {
  let summary = "member `root` gets all members' tensors concatenated along `dim`, the others zeros";
  let description = [{ **Constraints:** (gather_c1) `root` is a member; (gather_c2) as all_gather_c1. }];
  let arguments = (ins StrArrayAttr:$axes, I64Attr:$dim, I64Attr:$root, Variadic<Par_Tensor>:$inputs);
  let assemblyFormat = [{
    `over` $axes `dim` $dim `root` $root $inputs attr-dict `:` functional-type($inputs, $results)
  }];
}

def Par_ScatterOp : Par_CollectiveOp<"scatter"> {
  let summary = "every member gets its block along `dim` of the tensor of member `root`";
  let description = [{ **Constraints:** (scatter_c1) `root` is a member; (scatter_c2) as reduce_scatter_c1. }];
  let arguments = (ins StrArrayAttr:$axes, I64Attr:$dim, I64Attr:$root, Variadic<Par_Tensor>:$inputs);
  let assemblyFormat = [{
    `over` $axes `dim` $dim `root` $root $inputs attr-dict `:` functional-type($inputs, $results)
  }];
}

def Par_AllSliceOp : Par_Op<"all_slice", [Pure, DeclareOpInterfaceMethods<InterpretableOpInterface>,
    DeclareOpInterfaceMethods<KernelOpInterface, ["emitElement", "keepsSteps", "usesCoordinates"]>]> {
  let summary = "every member keeps its own block along `dim`; nothing travels";
  let description = [{
    ```mlir
    %r = par.all_slice over ["tp"] dim 0 %z : tensor<4x64xf32> -> tensor<2x64xf32>
    ```
    Its offset depends on the rank, so it is no `par.slice`: the kernel generator knows it.

    **Constraints:** (all_slice_c1) `dim` of the result is 1/n of the operand's, all others equal. (collective_c1),
    (collective_c2).
  }];
  let arguments = (ins StrArrayAttr:$axes, I64Attr:$dim, Par_Tensor:$input);
  let results = (outs Par_Tensor:$result);
  let assemblyFormat = "`over` $axes `dim` $dim $input attr-dict `:` type($input) `->` type($result)";
}

def Par_WaitOp : Par_Op<"wait", [Pure, DeclareOpInterfaceMethods<InterpretableOpInterface>]> {
  let summary = "the end of a started collective or transfer: its results";
  let description = [{
    ```mlir
    %p = par.all_gather over ["dp"] dim 0 %w {par.started} : (tensor<2x64xf32>) -> tensor<4x64xf32>
    %y = par.call @layer(%x, %w0) : …              // meanwhile
    %g = par.wait %p : (tensor<4x64xf32>) -> tensor<4x64xf32>
    ```
    Written by par-overlap-collectives and par-offload-state; par-to-rank makes `rank.start` and `rank.wait` of the
    two.

    **Constraints:** (wait_c1) the operands are all results of one collective, or transfer, with `par.started`, in
    order; (wait_c2) result types equal operand types.
  }];
  let arguments = (ins Variadic<Par_Tensor>:$started);
  let results = (outs Variadic<Par_Tensor>:$results);
  let assemblyFormat = "$started attr-dict `:` functional-type($started, $results)";
  let extraClassDeclaration = [{
    /// The collective, or transfer, that ends here.
    ::mlir::Operation *getCollective() { return getStarted().front().getDefiningOp(); }
  }];
}

#endif // PAR_COLLECTIVE_OPS
