//===- EmbeddingOps.td - table lookup -----------------------------------------------------------------------===//
#ifndef PAR_EMBEDDING_OPS
#define PAR_EMBEDDING_OPS

include "par/Dialect/Par/IR/ParBase.td"

def Par_EmbeddingOp : Par_GraphOp<"embedding", [DeclareOpInterfaceMethods<DifferentiableOpInterface>], ["localize"]> {
  let summary = "rows of a table by number";
  let description = [{
    ```mlir
    %x = par.embedding %ids, %table : (tensor<8x128xi32>, tensor<256x64xf32>) -> tensor<8x128x64xf32>
    %x = par.embedding %ids, %table offset %o
        : (tensor<8x128xi32>, tensor<64x64xf32>, tensor<i32>) -> tensor<8x128x64xf32>
    ```
    Row `id − offset` of the table; zeros when that lies outside it. So a table split by rows (vocabulary-parallel)
    gives partial sums: factor `vocab` is a reduction, the op is linear in the table.

    ```mlir
    %x = par.embedding %ids, %table {padding = 7} : (tensor<8x128xi32>, tensor<256x64xf32>) -> tensor<8x128x64xf32>
    ```
    With `padding` the row of that id (not shifted by the offset) is looked up as any other, but nothing flows back to
    it.

    **Constraints:** (embedding_c1) the table has rank 2; (embedding_c2) result shape = ids' shape, then the row's
    size; its element type is the table's; (embedding_c3) `padding` is at least 0.
  }];
  let arguments = (ins Par_Int:$ids, Par_Float:$table, Optional<Par_ScalarI32>:$offset,
      OptionalAttr<I64Attr>:$padding);
  let results = (outs Par_Float:$result);
  let assemblyFormat = "$ids `,` $table (`offset` $offset^)? attr-dict `:` functional-type(operands, $result)";
}

def Par_EmbeddingBackwardOp : Par_GraphOp<"embedding_backward", [], ["localize"],
    ["mayWidenResults", "addsUpInMemory"], ["getFlops"]> {
  let summary = "gradient of a table: row r is the sum of `dy` over all ids equal to r + offset";
  let description = [{
    ```mlir
    %d = par.embedding_backward %ids, %dy : (tensor<8x128xi32>, tensor<8x128x64xf32>) -> tensor<256x64xf32>
    ```
    Linear in `dy`; sums run in row-major order of the ids. **Constraints:** as embedding_c1 and embedding_c2
    (embedding_backward_c1).
  }];
  let arguments = (ins Par_Int:$ids, Par_Float:$dy, Optional<Par_ScalarI32>:$offset);
  let results = (outs Par_Float:$result);
  let assemblyFormat = "$ids `,` $dy (`offset` $offset^)? attr-dict `:` functional-type(operands, $result)";
}

#endif // PAR_EMBEDDING_OPS
