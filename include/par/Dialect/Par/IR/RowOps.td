//===- RowOps.td - rows of a table by number ----------------------------------------------------------------===//
#ifndef PAR_ROW_OPS
#define PAR_ROW_OPS

include "par/Dialect/Par/IR/ParBase.td"

/// Rows of `table`, one for each id.
class Par_SelectRowsOp<string mnemonic> : Par_GraphOp<mnemonic,
    [DeclareOpInterfaceMethods<DifferentiableOpInterface>], ["localize"], ["emitElement", "keepsSteps"]> {
  let results = (outs Par_Float:$result);
  let assemblyFormat = "$ids `,` $table (`offset` $offset^)? attr-dict `:` functional-type(operands, $result)";
}

/// Sums of those of `rows` that have the same id.
class Par_SumRowsOp<string mnemonic, list<Trait> traits> : Par_GraphOp<mnemonic, traits, ["localize"],
    ["emitElement", "mayWidenResults", "addsUpInMemory"], ["getFlops"]> {
  let arguments = (ins Par_Int:$ids, Par_Float:$rows, Optional<Par_ScalarI32>:$offset);
  let results = (outs Par_Float:$result);
  let assemblyFormat = "$ids `,` $rows (`offset` $offset^)? attr-dict `:` functional-type(operands, $result)";
}

def Par_EmbeddingOp : Par_SelectRowsOp<"embedding"> {
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
}

def Par_EmbeddingBackwardOp : Par_SumRowsOp<"embedding_backward",
    [DeclareOpInterfaceMethods<AddsRowsOpInterface, ["areIdsChecked"]>]> {
  let summary = "gradient of a table: row r is the sum of `dy` over all ids equal to r + offset";
  let description = [{
    ```mlir
    %d = par.embedding_backward %ids, %dy : (tensor<8x128xi32>, tensor<8x128x64xf32>) -> tensor<256x64xf32>
    ```
    Linear in `dy`; sums run in row-major order of the ids.
    **Constraints:** as embedding_c1 and embedding_c2 (embedding_backward_c1).
  }];
}

#endif // PAR_ROW_OPS
