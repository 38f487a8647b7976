//===- ScatterSum.h - rows that are added to rows of a table, in the order of ids ---------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_KERNELS_SCATTERSUM_H
#define PAR_LIB_TARGET_KERNELS_SCATTERSUM_H

#include "KernelLoops.h"

namespace mlir::par {

/// True where `initial` is a tensor, or 1 times one, that lies in `memory` already: a table to which a few
/// rows are added need not be walked. Null where that cannot be.
Value isInMemory(ScalarEvaluator &evaluator, Value initial, Value memory);

/// What a tensor is multiplied by to be `initial`; null where it is not made so.
Value findFactor(ScalarEvaluator &evaluator, Value initial);

/// Writes `initial` (null: zero) plus the result of an op that adds rows to `memory`: they are added to it in
/// the order of the ids. Parts share the columns.
class ScatterSum {
public:
  ScatterSum(ScalarEvaluator &evaluator, KernelLoops &loops, AddsRowsOpInterface op, Value initial,
             Value memory)
      : evaluator(evaluator), loops(loops), builder(evaluator.builder), op(op), initial(initial),
        memory(memory), type(cast<RankedTensorType>(op->getResult(0).getType())) {}

  /// True for sums of rows that are vectors (others are views of those by now).
  static bool mayWrite(Value sum);

  LogicalResult write();

private:
  using Body = function_ref<LogicalResult(ArrayRef<Value>)>;
  LogicalResult fill();
  LogicalResult fillAlways();
  LogicalResult nest(ArrayRef<int64_t> sizes, Index &indices, Body body);
  LogicalResult addRow(ArrayRef<Value> index);

  ScalarEvaluator &evaluator;
  KernelLoops &loops;
  OpBuilder &builder;
  AddsRowsOpInterface op;
  Value initial, memory;
  RankedTensorType type;
};

} // namespace mlir::par

#endif // PAR_LIB_TARGET_KERNELS_SCATTERSUM_H
