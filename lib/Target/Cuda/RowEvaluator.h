//===- RowEvaluator.h - elements of the rows of a space ---------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_ROWEVALUATOR_H
#define PAR_LIB_TARGET_CUDA_ROWEVALUATOR_H

#include "KernelEntry.h"
#include "par/Conversion/ScalarEvaluator.h"

namespace mlir::par {

/// Of strategies that make no sums of rows.
class NoSums : public TermWalk {
public:
  explicit NoSums(Operation *op) : op(op) {}

  FailureOr<Value> reduce(ArrayRef<int64_t>, Type, ReduceKind,
                          function_ref<FailureOr<Value>(ArrayRef<Value>)>) override {
    return op->emitError("kernel generation: a sum that the kernel's plan does not know");
  }

private:
  Operation *op;
};

/// Consecutive elements of a row, which a thread takes at a time: an index each, of the space's dimensions
/// behind those of rows. Where `isThere` is false, they are the first ones of the row instead; null: it is
/// true.
struct Step {
  SmallVector<Index> columns;
  Value isThere;
};

/// Writes into the body of one entry.
class RowEvaluator : public ScalarEvaluator {
public:
  /// Makes the function `name`; the builder's place is in it from now on. `space` is to outlive this.
  RowEvaluator(const KernelTask &task, const IterationSpace &space, StringRef name, const Launch &launch,
               TermWalk &terms);

  /// The memory of an operand of the rank.kernel, which the launch must have.
  Value getOperand(int64_t number) const { return operands.lookup(number); }
  /// The index of a row, of the space's first dimensions, by its number.
  Index findRow(Value number) { return delinearize(number, ArrayRef(space.shape).take_front(space.rowDims)); }
  /// The index of a column by its number.
  Index findColumn(Value number) {
    return delinearize(number, ArrayRef(space.shape).drop_front(space.rowDims));
  }
  Index delinearize(Value number, ArrayRef<int64_t> sizes);
  /// The number of a column by its index.
  Value linearize(ArrayRef<Value> column);
  /// The elements of the step that is `distance` behind step `start` of a row; guarded: the row may have
  /// fewer steps.
  Step findStep(Value start, int64_t distance, bool isGuarded);

  /// Elements of `value` in a step.
  FailureOr<SmallVector<Value>> evaluateStep(Value value, ArrayRef<Value> row, const Step &step);
  /// Loads what the elements of steps are made of, so far as it runs along rows and is late, or is not; only
  /// what is there. `row` none: what is the same in all rows.
  LogicalResult preload(ArrayRef<Step> steps, std::optional<ArrayRef<Value>> row, bool isLate = false);
  /// Loads what `values` are made of and is one number of a row: before its elements, whose arrival would
  /// else be waited for first.
  LogicalResult preloadNumbers(ValueRange values, ArrayRef<Value> row);
  /// Tells the GPU that elements of steps of a row will be loaded.
  void prefetch(ArrayRef<Step> steps, ArrayRef<Value> row);
  /// `value` where the step is there, else what changes no sum.
  Value guard(const Step &step, ReduceKind kind, Value value);
  /// What `body` computes where `condition` is true, zeros elsewhere; no condition: always.
  FailureOr<SmallVector<Value>> choose(Value condition, ArrayRef<Type> types,
                                       function_ref<FailureOr<SmallVector<Value>>()> body);
  /// `body` at the builder's place, or inside of a branch if there is a condition.
  LogicalResult branch(Value condition, function_ref<LogicalResult()> body);

  static Index join(ArrayRef<Value> row, ArrayRef<Value> column) {
    Index index(row);
    llvm::append_range(index, column);
    return index;
  }

  const KernelTask &task;

private:
  RowEvaluator(const KernelTask &task, const IterationSpace &space, func::FuncOp entry, const Launch &launch,
               TermWalk &terms);
  Index getIndex(const Read &read, ArrayRef<Value> row, ArrayRef<Value> column) const;
  LogicalResult loadStep(const Step &step, ArrayRef<std::pair<Value, Index>> elements);

  const IterationSpace &space;
  llvm::DenseMap<int64_t, Value> operands;
};

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_ROWEVALUATOR_H
