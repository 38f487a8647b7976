//===- KernelRegion.h - what strategies look at: the results and sums of a kernel ---------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_KERNELREGION_H
#define PAR_LIB_TARGET_CUDA_KERNELREGION_H

#include "IterationSpace.h"

namespace mlir::par {

/// The region of a kernel that decomposeForDevice has simplified.
struct KernelRegion {
  explicit KernelRegion(Block &block);

  Block &block;
  ValueRange outputs;
  SmallVector<Operation *> totals;  ///< sums over everything
  SmallVector<Operation *> rows;    ///< over the last dimension
  SmallVector<Operation *> columns; ///< over leading dimensions
  std::string problem;              ///< why no strategy knows such sums; empty: one may

  bool hasSums() const { return !totals.empty() || hasRowSums(); }
  bool hasRowSums() const { return !rows.empty() || !columns.empty(); }
  /// True if all elements are made of those at the same place.
  bool isInPlace() const;

  // Where sums are of rows, or over rows, and there are no totals:
  IterationSpace space;                   ///< what is summed up
  SmallVector<Value> matrices, rowValues; ///< outputs of the space's shape, and of its rows
  SmallVector<size_t> ofColumns;          ///< numbers of outputs that are made of sums over rows

private:
  std::string sortSums();
  bool sort(ReduceOp reduce);
  std::string sortOutputs();
  std::string checkColumns() const;
  std::string collectReads();
};

/// True if `value` is made of a result of one of `ops`.
bool isMadeOf(Value value, ArrayRef<Operation *> ops);

/// Numbers of the arguments that `values` are made of, as far as they are not made of results of `known`.
SmallVector<int64_t> findArguments(ValueRange values, ArrayRef<Operation *> known);

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_KERNELREGION_H
