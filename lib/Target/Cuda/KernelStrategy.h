//===- KernelStrategy.h - how the threads of a GPU share a kernel -------------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_KERNELSTRATEGY_H
#define PAR_LIB_TARGET_CUDA_KERNELSTRATEGY_H

#include "KernelEntry.h"
#include "KernelRegion.h"

namespace mlir::par {

/// A way to compute one kernel, made by `match…` for its region. What it decides depends on nothing else, so
/// that a workspace is planned for what is written later.
class KernelStrategy {
public:
  explicit KernelStrategy(StringRef name) : name(name) {}
  virtual ~KernelStrategy() = default;

  /// Of each buffer that its launches leave something for each other in.
  virtual SmallVector<int64_t> getWorkspaceBytes() const { return {}; }
  virtual int64_t countLaunches() const { return 1; }
  /// Writes the function `task.name` and those that are launched behind it.
  virtual LogicalResult write(const KernelTask &task) const = 0;

  const std::string name; ///< of its launch, in --explain and in the manifest
};

/// A strategy's answer for a region: itself, or why the generic one has to do; neither: the next is asked.
struct StrategyMatch {
  std::unique_ptr<KernelStrategy> strategy;
  std::string reason;
};
inline StrategyMatch refuse(std::string reason) { return {nullptr, std::move(reason)}; }

// The strategies. Each has a file in Strategies/.
#define PAR_KERNEL_STRATEGY(name) StrategyMatch match##name(const KernelRegion &region);
#include "KernelStrategies.def"

/// A thread computes one element at a time. `reason`: why nothing better does.
std::unique_ptr<KernelStrategy> makeGeneric(std::string reason);
/// The same, for strategies of whole accesses where buffers begin anywhere.
LogicalResult writeGenericKernel(const KernelTask &task);

/// That of the first one that takes a kernel's region.
std::unique_ptr<KernelStrategy> selectStrategy(Block &block);

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_KERNELSTRATEGY_H
