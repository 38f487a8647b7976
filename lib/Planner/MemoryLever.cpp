//===- MemoryLever.cpp - what a plan does to fit --------------------------------------------------------===//
#include "par/Planner/MemoryLever.h"
#include "par/Compile/PlanFlags.h"

using namespace mlir::par;

/// The plan with one decision less, each.
static std::vector<Plan> relax(const Plan &plan) {
  std::vector<Plan> plans;
  if (plan.recompute == RecomputeKind::Selective || plan.recompute == RecomputeKind::Full)
    plans.emplace_back(plan).recompute =
        plan.recompute == RecomputeKind::Full ? RecomputeKind::Selective : RecomputeKind::None;
  if (plan.offload != OffloadKind::None)
    plans.emplace_back(plan).offload = OffloadKind::None;
  if (plan.zero > 0) {
    Plan &less = plans.emplace_back(plan);
    --less.zero;
    less.zero3Gather = GatherTime::PerMicroBatch;
  }
  return plans;
}

std::vector<MemoryLever> mlir::par::findMemoryLevers(const Plan &plan, PlanEstimator &estimator,
                                                     double usable, double slack) {
  std::vector<MemoryLever> levers;
  std::optional<PlanEstimate> own = estimator.estimate(plan);
  for (const Plan &relaxed : relax(plan)) {
    std::optional<PlanEstimate> without = estimator.estimate(relaxed);
    if (!own || !without || without->seconds >= own->seconds || without->bytes / slack <= usable)
      continue;
    levers.push_back({relaxed, printDifference(relaxed, plan), without->fullestStage, without->bytes - usable,
                      1 - without->seconds / own->seconds});
  }
  return levers;
}
