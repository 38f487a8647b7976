//===- ReductionStrategy.h - threads that add up what they have ---------------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_REDUCTIONSTRATEGY_H
#define PAR_LIB_TARGET_CUDA_REDUCTIONSTRATEGY_H

#include "KernelStrategy.h"

namespace mlir::par {

/// Most threads of a block that walks what does not fit into registers.
inline constexpr int32_t kLoopThreads = 512;
/// Partial sums of a column: few enough that a block adds them up in one go.
inline constexpr int64_t kMostSlices = 256;
/// Steps of a thread for which a slice of a total is worth it.
inline constexpr int64_t kLeastSteps = 4;

/// Of the second launch.
inline std::string getFinishName(StringRef kernel) { return (kernel + "_finish").str(); }

/// Groups of threads walk rows, or slices of them. What `sums` come to in a slice lies in scratch, [slices,
/// numbers] of f32 for each, and a second launch adds that up from the first slice to the last.
class ReductionStrategy : public KernelStrategy {
public:
  ReductionStrategy(StringRef name, IterationSpace space) : KernelStrategy(name), space(std::move(space)) {}

  SmallVector<int64_t> getWorkspaceBytes() const override {
    return SmallVector<int64_t>(hasScratch ? sums.size() : 0, 4 * slices * countNumbers());
  }
  int64_t countLaunches() const override { return hasScratch ? 2 : 1; }
  LogicalResult write(const KernelTask &task) const override;

  /// Numbers that each of `sums` comes to.
  int64_t countNumbers() const { return isTotal ? 1 : space.countColumns(); }
  /// All outputs of the region are made of `total`.
  void addTotal(Operation *total, const KernelRegion &region, bool inScratch);
  /// The scratch buffers are operands of the launch. The one that writes them has the second one behind it.
  void addScratch(const KernelTask &task, Launch &launch, BufferAccess access = BufferAccess::Write) const;

  IterationSpace space;
  SmallVector<Operation *> sums; ///< over rows, or of everything
  SmallVector<size_t> ofSums;    ///< numbers of outputs that are made of them
  bool isTotal = false;          ///< they are of everything
  bool hasScratch = false;
  int64_t slices = 1;
  int32_t threads = 0; ///< of a group that shares a row

protected:
  /// The launch `task.name`.
  virtual LogicalResult writeFirst(const KernelTask &task) const = 0;

private:
  /// The launch behind it.
  LogicalResult writeFinish(const KernelTask &task) const;
};

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_REDUCTIONSTRATEGY_H
