//===- LeadingSum.h - a sum over leading dimensions, added up row by row ----------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_KERNELS_LEADINGSUM_H
#define PAR_LIB_TARGET_KERNELS_LEADINGSUM_H

#include "KernelLoops.h"

namespace mlir::par {

/// Writes `initial` (null: zero) plus a par.reduce over leading dimensions (gradients of biases and of norms'
/// weights) to `memory`.
///
/// A few rows are added to each other, in the elements' type, and to a sum that is f64 where the elements are
/// f32: what is lost does not grow with the number of rows. Those sums lie on the stack, so that a pass over
/// the rows makes some columns only; each column belongs to one thread.
class LeadingSum {
public:
  LeadingSum(ScalarEvaluator &evaluator, KernelLoops &loops, ReduceOp op, Value initial, Value memory);
  LogicalResult write();

private:
  using Body = function_ref<LogicalResult(ArrayRef<Value> index, ArrayRef<Value> place, Value sum)>;

  void orderLoops();
  LogicalResult writeOuter(Index &indices);
  LogicalResult writeColumns(Index &indices);
  LogicalResult writePass(Index &indices);
  LogicalResult sumRows(SmallVector<Index> &rows, Body body);
  LogicalResult sumGroup(ArrayRef<Index> rows, Body body);
  LogicalResult eachColumn(SmallVector<Index> &rows, function_ref<LogicalResult()> body);
  FailureOr<Value> addRows(ArrayRef<Index> rows);
  LogicalResult store(ArrayRef<Value> index, Value sum);
  /// Index of the result, and of the sums on the stack, in a nest whose loops stand at `row`.
  Index getResultIndex(const Index &row) const;
  Index getRoomIndex(const Index &row);
  Value widen(Value element);
  Value createRoom();

  ScalarEvaluator &evaluator;
  KernelLoops &loops;
  ReduceOp op;
  Value initial, memory;
  Type element, wide;
  /// The nest: outer dimensions that are kept, reduced ones, inner ones that are kept.
  SmallVector<int64_t> sizes;
  size_t outer = 0, reduced = 0;
  size_t shared = 0;  ///< the loop of which each thread takes a share
  int64_t rows = 1;   ///< rows that are added to each other first: steps of the last reduced loop
  int64_t groups = 1; ///< of so many rows
  Symbols symbols;    ///< loop of each dimension of the operand
  std::optional<HoistPlan> plan;
  SmallVector<std::pair<Value, Value>> ranges; ///< of the inner loops, in this pass
  Value firstColumn;                           ///< of this pass; null: 0
};

} // namespace mlir::par

#endif // PAR_LIB_TARGET_KERNELS_LEADINGSUM_H
