//===- RowStrategy.h - rows that threads keep in registers --------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_STRATEGIES_ROWSTRATEGY_H
#define PAR_LIB_TARGET_CUDA_STRATEGIES_ROWSTRATEGY_H

#include "../ReductionStrategy.h"

namespace mlir::par {

/// Groups of threads take rows in turns. What a row is made of is loaded once, into registers. With sums over
/// rows a group goes on with its own from row to row, and is a slice.
class RowStrategy : public ReductionStrategy {
public:
  using ReductionStrategy::ReductionStrategy;

  /// Groups of a warp share a block. Those of several have one each: they meet in its barriers.
  int32_t countThreadsOfBlock() const { return threads == kWarp ? 4 * kWarp : threads; }
  /// Of a block's shared memory, where sums over rows lie there: a place for each element of each thread.
  int64_t countSharedBytes() const {
    int64_t kept = llvm::divideCeilSigned(space.countSteps(), threads) * space.step;
    return sharesSums ? kept * threads * static_cast<int64_t>(sums.size()) * 4 : 0;
  }

  int64_t groups = 0;      ///< so many go on from row to row
  bool sharesSums = false; ///< sums over rows lie in shared memory, not in registers

protected:
  LogicalResult writeFirst(const KernelTask &task) const override;
};

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_STRATEGIES_ROWSTRATEGY_H
