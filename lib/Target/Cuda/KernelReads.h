//===- KernelReads.h - what elements of rows are made of --------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_KERNELREADS_H
#define PAR_LIB_TARGET_CUDA_KERNELREADS_H

#include "IterationSpace.h"
#include <set>

namespace mlir::par {

/// Collects the tensors that elements of a matrix of `shape` are made of: of their own row and column alone,
/// in the order of the matrix, so that consecutive elements are made of consecutive ones.
class KernelReads {
public:
  /// Sums over the last dimension may be made on the way where `rowDims` is all but that one. `mayTurn`:
  /// tensors may have the dimensions of the matrix in another order.
  KernelReads(ArrayRef<int64_t> shape, size_t rowDims, bool mayTurn = false)
      : shape(shape), rowDims(rowDims), mayTurn(mayTurn) {}

  /// Adds those of `value`, whose dimensions run along `symbols`. False: an element is made of what a thread
  /// that has its place does not know, and `reason` says what.
  bool collect(Value value, const Symbols &symbols);

  SmallVector<Read> reads;
  std::string reason;

private:
  bool collectOperation(Operation *op, const Symbols &symbols);
  bool collectSum(ReduceOp sum, const Symbols &symbols);
  bool refuse(std::string why) {
    reason = std::move(why);
    return false;
  }

  ArrayRef<int64_t> shape;
  size_t rowDims;
  bool mayTurn;
  std::set<std::pair<void *, Symbols>> visited;
};

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_KERNELREADS_H
