//===- MemoryLever.cpp - what a plan does to fit --------------------------------------------------------===//
#include "par/Planner/MemoryLever.h"
#include "par/Compile/PlanFlags.h"
#include "par/Compile/PlanLevers.h"

using namespace mlir::par;

std::vector<MemoryLever> mlir::par::findMemoryLevers(const Plan &plan, PlanEstimator &estimator,
                                                     double usable, double slack) {
  std::vector<MemoryLever> levers;
  std::optional<PlanEstimate> own = estimator.estimate(plan);
  for (llvm::StringRef name : {"recompute", "offload", "zero"}) {
    std::optional<Plan> relaxed = getPlanLever(name).loosen(plan);
    if (!relaxed)
      continue;
    std::optional<PlanEstimate> without = estimator.estimate(*relaxed);
    if (!own || !without || without->seconds >= own->seconds || without->bytes / slack <= usable)
      continue;
    levers.push_back({*relaxed, printDifference(*relaxed, plan), without->fullestStage,
                      without->bytes - usable, 1 - without->seconds / own->seconds});
  }
  return levers;
}
