//===- StructureOps.td - meshes, state and calls ------------------------------------------------------------===//
#ifndef PAR_STRUCTURE_OPS
#define PAR_STRUCTURE_OPS

include "par/Dialect/Par/IR/ParBase.td"

def Par_MeshOp : Par_Op<"mesh", [Symbol]> {
  let summary = "the devices, by named axes";
  let description = [{
    ```mlir
    par.mesh @mesh <["dp"=2, "tp"=4]>
    ```
    A module has at most one. Created by the pipeline from `--mesh`; collectives and shardings speak of its axes.

    **Constraints:**
    - (mesh_c1) at most one per module
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Par_MeshAttr:$mesh);
  let assemblyFormat = "$sym_name $mesh attr-dict";
}

def Par_VariableOp : Par_Op<"variable", [Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "state that outlives a step";
  let description = [{
    ```mlir
    par.variable @mlp.up : tensor<256x64xf32> dims ["mlp", "embed"]
        {role = #par.role<parameter>, init = #par.init<normal, 0.02>, file = #par.file<"mlp.up.weight">}
    ```
    Logical shape with a name per dimension. `storage` is how it lies in memory between steps, `compute` how functions
    see it; both absent = replicated, no `storage` = as `compute`. Reading the variable reshards from one to the
    other, writing it back (par-insert-reshards). `of` names the parameter that an accumulator, gradient, moment,
    master or gathered copy belongs to; `alias` a variable whose memory it may share when both are cut alike.
    Functions are pure: an argument with `par.place = #par.place<variable @v>` reads the variable, a result with it
    updates the variable in place.

    A parameter may say how state that does not exist yet will lie:
    `par.state_storage = {moment = #par.sharding<…>, …}`, by role. par-shard-zero writes it, the passes that create
    such variables (par-differentiate, par-build-optimizer) follow it: `storage` and `compute` of theirs are that
    sharding.

    `par.frozen` on a parameter says that it is not trained (par-freeze-parameters): it has no gradient, and no state
    belongs to it.

    **Constraints:**
    - (variable_c1) a name per dimension
    - (variable_c2) shardings fit mesh and rank
    - (variable_c3) the pieces of `file` make up the variable without gap and overlap, and each has as many elements as
      its slice of the file's tensor, in an order that steps along dimensions give
    - (variable_c4) `of` and `alias` name variables; all roles but parameter and step have `of` unless they are
      scalars
    - (variable_c5) `storage` and `par.state_storage` leave nothing open and nothing unreduced but what
      par-insert-reshards adds to accumulators; `par.state_storage` stands on parameters and its keys are accumulator,
      gradient, moment or master
    - (variable_c6) the row that `init` names is one of the variable's
    - (variable_c7) `par.frozen` stands on parameters, and no variable but a gathered copy is `of` one that has it
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Par_Tensor>:$type, StrArrayAttr:$dims, Par_RoleAttr:$role,
                       OptionalAttr<Par_InitAttr>:$init, OptionalAttr<Par_FileAttr>:$file,
                       OptionalAttr<Par_ShardingAttr>:$storage, OptionalAttr<Par_ShardingAttr>:$compute,
                       OptionalAttr<FlatSymbolRefAttr>:$of, OptionalAttr<FlatSymbolRefAttr>:$alias,
                       OptionalAttr<Par_MemorySpaceAttr>:$space);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() { return ::llvm::cast<::mlir::RankedTensorType>(getType()); }
    /// Whether it is a parameter that a step changes.
    bool isTrained();
    /// The name of the first tensor of the model's files that it lies in, else its own.
    ::llvm::StringRef getModelName();
  }];
}

def Par_CallOp : Par_Op<"call", [CallOpInterface, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "applies a layer";
  let description = [{
    ```mlir
    %y = par.call @block(%x, %w0, %w1, %index) : (tensor<..>, ...) -> tensor<..>
    ```
    The callee is a private function without side effects. What differs from call to call (layer index) is an operand.

    ```mlir
    %loss, %dw = par.call @head.part(%x, %w, %acc) {parts = 16 : i64}
        : (tensor<8x1024x64xf32>, tensor<256x64xf32>, tensor<256x64xf32>) -> (tensor<8x1024xf32>, tensor<256x64xf32>)
    ```
    With `parts = n` it is applied n times, one after the other. An operand of another type than the callee's argument
    is cut into n parts that follow each other in memory (here of tensor<1x512x64xf32>), of which every call gets the
    next one. A result of another type is made of the parts in the same way. A result of the same type is
    `#par.place<alias k>` at the callee: the next call finds it as its operand k, and the last one's is the result. So
    a function, its code and its memory exist once, however many rows there are.

    **Constraints:**
    - (call_c1) the callee exists and is a function
    - (call_c2) operand and result types are the callee's; where there are several parts, or n such parts
    - (call_c3) `parts` is at least 1; a result of several parts that is not made of them is an alias of a whole
      operand of its type
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<Par_Tensor>:$inputs, DefaultValuedAttr<I64Attr,
      "1">:$parts);
  let results = (outs Variadic<Par_Tensor>:$outputs);
  let assemblyFormat = "$callee `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)";
  let hasVerifier = 0;
  let extraClassDeclaration = [{
    ::mlir::CallInterfaceCallable getCallableForCallee() { return getCalleeAttr(); }
    void setCalleeFromCallable(::mlir::CallInterfaceCallable callee) {
      setCalleeAttr(::llvm::cast<::mlir::FlatSymbolRefAttr>(callee.get<::mlir::SymbolRefAttr>()));
    }
    ::mlir::Operation::operand_range getArgOperands() { return getInputs(); }
    ::mlir::MutableOperandRange getArgOperandsMutable() { return getInputsMutable(); }
  }];
}

#endif // PAR_STRUCTURE_OPS
