//===- RowView.h - values that lie in the rows of other values --------------------------------*- C++ -*-===//
#ifndef PAR_DIALECT_PAR_IR_ROWVIEW_H
#define PAR_DIALECT_PAR_IR_ROWVIEW_H

#include "par/Dialect/Par/IR/Par.h"

namespace mlir::par {

/// Row r of a value (its two leading dimensions, linearised) is a run of elements of row r of `buffer`: the
/// first lies `offset` elements behind that row's first, rows are `stride` elements apart.
struct RowView {
  Value buffer;
  int64_t offset = 0, stride = 0;
  /// The ops between buffer and value, the value's first.
  SmallVector<Operation *> ops;
};

/// Elements of a row of a tensor: of all but its two leading dimensions.
int64_t getRowElements(RankedTensorType type);

/// Where the rows of `value` lie, seen through reshapes of rows and one slice of consecutive elements; the
/// value itself where there is none.
RowView viewRows(Value value);

/// Where the rows of an operand of a concatenation lie in its result; none if the rows are not consecutive
/// there.
std::optional<RowView> viewInConcat(ConcatOp concat, unsigned operand);

} // namespace mlir::par

#endif // PAR_DIALECT_PAR_IR_ROWVIEW_H
