//===- KernelSums.h - the results and sums of a kernel's region ----------------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_PLANS_KERNELSUMS_H
#define PAR_LIB_TARGET_CUDA_PLANS_KERNELSUMS_H

#include "../KernelPlan.h"
#include "../KernelReads.h"

namespace mlir::par {

/// Most threads of a block that walks what does not fit into registers.
inline constexpr int32_t kLoopThreads = 512;
/// Partial sums of a column: few enough that a block adds them up in one go.
inline constexpr int64_t kMostSlices = 256;

/// What plans are derived from: the results of a region, and its sums by what they are over.
struct KernelSums {
  explicit KernelSums(Block &block);

  Block &block;
  ValueRange outputs;
  SmallVector<Operation *> totals;  ///< over everything
  SmallVector<Operation *> rows;    ///< over the last dimension
  SmallVector<Operation *> columns; ///< over leading dimensions
  std::string reason;               ///< why there is no plan for such sums; empty: there may be one

private:
  bool sort(ReduceOp reduce);
};

// The plans, each by what it is of; generic ones have the reason.
KernelPlan planScatter(const KernelSums &kernel, EmbeddingBackwardOp op);
KernelPlan planTotal(const KernelSums &kernel);
KernelPlan planElements(const KernelSums &kernel);
KernelPlan planRows(const KernelSums &kernel);

/// A generic plan.
KernelPlan makeGeneric(std::string reason);
/// Sets the step: elements of the narrowest tensor in an access, as far as rows of `size` elements consist of
/// such. `matrices` are written, beside what the plan reads.
void findStep(KernelPlan &plan, ValueRange matrices, int64_t size);
/// 0, 1, …: the symbols of a tensor of so many dimensions.
Symbols countDims(size_t count);

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_PLANS_KERNELSUMS_H
