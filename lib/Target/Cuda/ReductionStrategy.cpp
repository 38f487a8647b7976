//===- ReductionStrategy.cpp - threads that add up what they have ---------------------------------===//
#include "ReductionStrategy.h"

using namespace mlir;
using namespace mlir::par;

void ReductionStrategy::addTotal(Operation *total, const KernelRegion &region, bool inScratch) {
  sums = {total};
  ofSums = llvm::to_vector(llvm::seq<size_t>(0, region.outputs.size()));
  isTotal = true;
  hasScratch = inScratch;
}

void ReductionStrategy::addScratch(const KernelTask &task, Launch &launch, BufferAccess access) const {
  launch.scratch = {slices, countNumbers()};
  for (size_t sum = 0; sum < sums.size(); ++sum)
    launch.operands.push_back({task.getScratchNumber(static_cast<int64_t>(sum)), access});
  if (access == BufferAccess::Write)
    launch.next = getFinishName(task.name);
}

LogicalResult ReductionStrategy::write(const KernelTask &task) const {
  Block *module = task.builder.getInsertionBlock();
  if (failed(writeFirst(task)))
    return failure();
  task.builder.setInsertionPointToEnd(module);
  return hasScratch ? writeFinish(task) : success();
}
