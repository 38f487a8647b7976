//===- IterationSpace.h - the elements that a kernel computes, row by row -----------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_ITERATIONSPACE_H
#define PAR_LIB_TARGET_CUDA_ITERATIONSPACE_H

#include "../Kernels/HoistPlan.h"
#include "par/Dialect/Rank/IR/Rank.h"

namespace mlir::par {

/// The widest access that there is.
inline constexpr int64_t kAccessBytes = 16;
inline constexpr int32_t kWarp = 32;

/// A tensor that elements are made of; `symbols` are the dimensions of the space that its own run along.
struct Read {
  BlockArgument tensor;
  Symbols symbols;
  bool isLate = false; ///< not kept in registers while threads sum up rows, but loaded where it is needed

  bool isAlong(int64_t dim) const { return llvm::is_contained(symbols, dim); }
};

/// Rows, of which each has `columns` elements: the dimensions of `shape` from `rowDims` on.
struct IterationSpace {
  IterationSpace() = default;
  IterationSpace(ArrayRef<int64_t> shape, size_t rowDims) : shape(shape), rowDims(rowDims) {}

  SmallVector<int64_t> shape;
  size_t rowDims = 0;
  SmallVector<Read> reads; ///< of elements of rows
  int64_t step = 1;        ///< consecutive elements of a row that a thread takes at a time

  int64_t countRows() const { return ShapedType::getNumElements(ArrayRef(shape).take_front(rowDims)); }
  int64_t countColumns() const { return ShapedType::getNumElements(ArrayRef(shape).drop_front(rowDims)); }
  int64_t countSteps() const { return countColumns() / step; }
  bool isAlongRow(const Read &read) const { return read.isAlong(static_cast<int64_t>(shape.size()) - 1); }
  /// True for what is another in each row.
  bool isOfRows(const Read &read) const {
    return llvm::any_of(read.symbols, [&](int64_t symbol) { return symbol < static_cast<int64_t>(rowDims); });
  }
  bool hasLateReads() const {
    return llvm::any_of(reads, [](const Read &read) { return read.isLate; });
  }

  /// Sets the step: elements of the narrowest tensor in an access, as far as `size` elements consist of such.
  /// Tensors are those that are read along rows, or along the dimension `across`, and `matrices`.
  void chooseStep(ValueRange matrices, int64_t size, int64_t across = -1);
};

/// 0, 1, …: the symbols of a tensor of so many dimensions.
Symbols countDims(size_t count);

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_ITERATIONSPACE_H
