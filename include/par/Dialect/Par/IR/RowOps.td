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

def Par_TakeRowsOp : Par_SelectRowsOp<"take_rows"> {
  let summary = "rows of a table by number";
  let description = [{
    ```mlir
    %x = par.take_rows %ids, %table : (tensor<8x2xi32>, tensor<64x4x16xf32>) -> tensor<8x2x4x16xf32>
    %y = par.take_rows %ids, %table offset %o
        : (tensor<8x2xi32>, tensor<32x4x16xf32>, tensor<i32>) -> tensor<8x2x4x16xf32>
    %z = par.take_rows %id, %vector : (tensor<i32>, tensor<64xf32>) -> tensor<f32>
    ```
    Ids have any shape, rows any shape: element [i.., e..] of the result is element [ids[i..] − offset, e..] of the
    table, zero where the table has no such row. So a table split by rows gives partial sums: its first dimension is a
    factor of kind reduction, the op is linear in the table. Its derivative is `par.add_rows`.

    **Constraints:** (take_rows_c1) the table has rank at least 1; (take_rows_c2) result shape = ids' shape, then the
    row's; its element type is the table's.
  }];
  let arguments = (ins Par_Int:$ids, Par_Float:$table, Optional<Par_ScalarI32>:$offset);
}

def Par_AddRowsOp : Par_SumRowsOp<"add_rows", [AddsRowsOpInterface,
    DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "row r is the sum of those rows whose id is r + offset";
  let description = [{
    ```mlir
    %t = par.add_rows %ids, %x : (tensor<8x2xi32>, tensor<8x2x4x16xf32>) -> tensor<64x4x16xf32>
    %u = par.add_rows %ids, %x offset %o : (tensor<8x2xi32>, tensor<8x2x4x16xf32>, tensor<i32>) -> tensor<32x4x16xf32>
    ```
    The transpose of `par.take_rows`, and linear in the rows; ids that name no row of the result add nothing. Sums run
    in row-major order of the ids. Rows are added to a tensor by `arith.addf` of it and the result: a kernel that
    computes both begins with what is there. Its derivative is `par.take_rows`.

    **Constraints:** (add_rows_c1) the result has rank at least 1; (add_rows_c2) the rows' shape is the ids', then that
    of a row of the result.
  }];
}

def Par_EmbeddingOp : Par_SelectRowsOp<"embedding"> {
  let summary = "lookup in a table: take_rows of vectors, of which one may be padding";
  let description = [{
    ```mlir
    %x = par.embedding %ids, %table : (tensor<8x128xi32>, tensor<256x64xf32>) -> tensor<8x128x64xf32>
    %x = par.embedding %ids, %table offset %o
        : (tensor<8x128xi32>, tensor<64x64xf32>, tensor<i32>) -> tensor<8x128x64xf32>
    ```
    The case of `par.take_rows` in which rows are vectors and ids are checked before they come (the runtime refuses
    tokens that the vocabulary does not have). A table split by rows is vocabulary-parallel.

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
    The case of `par.add_rows` that belongs to `par.embedding`. Linear in `dy`; sums run in row-major order of the ids.
    **Constraints:** as embedding_c1 and embedding_c2 (embedding_backward_c1).
  }];
}

#endif // PAR_ROW_OPS
