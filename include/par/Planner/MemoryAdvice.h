//===- MemoryAdvice.h - what would need less memory -------------------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_MEMORYADVICE_H
#define PAR_PLANNER_MEMORYADVICE_H

#include "par/Planner/PlanWorkers.h"

namespace mlir::par {

/// A change of a plan, by which its fullest rank needs so many bytes less.
struct MemorySaving {
  std::string flags; ///< that make the change
  int64_t bytes = 0;
};

/// Lists every lever (PlanLevers.h) that helps a plan on its number of ranks, as strong as it goes, those
/// that were pinned too, and freezing the parameter `largest`. The one that saves most comes first. Each plan
/// is compiled.
std::vector<MemorySaving> listMemorySavings(PlanWorkers &workers, const FoundPlan &plan,
                                            llvm::StringRef largest);

} // namespace mlir::par

#endif // PAR_PLANNER_MEMORYADVICE_H
