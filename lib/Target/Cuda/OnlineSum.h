//===- OnlineSum.h - sums of a row that one pass over it makes --------------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_ONLINESUM_H
#define PAR_LIB_TARGET_CUDA_ONLINESUM_H

#include "par/Dialect/Par/IR/Par.h"

namespace mlir::par {

/// Σ exp(x − shift), where shift is made of the maximum of x: what has been summed up is scaled when the
/// maximum changes, so that both are made at once.
struct OnlineSum {
  ReduceOp maximum, sum;
  Value shift; ///< of a row
};

struct RowPass {
  SmallVector<ReduceOp> sums;
  SmallVector<OnlineSum> online;
};

/// The passes over a row that its sums need, in an order in which each finds the ones that it is made of.
SmallVector<RowPass> findPasses(Block &block);

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_ONLINESUM_H
