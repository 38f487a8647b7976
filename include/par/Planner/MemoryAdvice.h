//===- MemoryAdvice.h - what would need less memory -------------------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_MEMORYADVICE_H
#define PAR_PLANNER_MEMORYADVICE_H

#include "par/Planner/PlanWorkers.h"

namespace mlir::par {

/// One change of a plan, and by how many bytes its fullest rank needs less then.
struct MemorySaving {
  std::string flags; ///< that make the change
  int64_t bytes = 0;
};

/// Of a plan on so many ranks: every lever (PlanLevers.h) that helps, as strong as it goes, those that were
/// pinned too, and freezing `largest`, a parameter; the one that saves most first. Each plan is compiled.
std::vector<MemorySaving> listMemorySavings(PlanWorkers &workers, const FoundPlan &plan,
                                            llvm::StringRef largest);

} // namespace mlir::par

#endif // PAR_PLANNER_MEMORYADVICE_H
