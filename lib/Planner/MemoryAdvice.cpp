//===- MemoryAdvice.cpp - what would need less memory ---------------------------------------------------===//
#include "par/Planner/MemoryAdvice.h"
#include "par/Compile/PlanFlags.h"
#include "par/Compile/PlanLevers.h"

using namespace mlir::par;

/// The plan by each lever, as strong as it goes. Ranks stay.
static std::vector<Plan> listSmallerPlans(const Plan &from, llvm::StringRef largest) {
  std::vector<Plan> plans;
  for (const PlanLever &lever : getPlanLevers()) {
    std::vector<PlanChange> changes = lever.tighten(from);
    Plan plan = from;
    if (!changes.empty())
      changes.back()(plan);
    if (!(plan == from) && plan.countRanks() == from.countRanks())
      plans.push_back(std::move(plan));
  }
  if (!largest.empty() && !llvm::is_contained(from.freeze, largest))
    plans.emplace_back(from).freeze.push_back(largest.str());
  return plans;
}

std::vector<MemorySaving> mlir::par::listMemorySavings(PlanWorkers &workers, const FoundPlan &plan,
                                                       llvm::StringRef largest) {
  std::vector<MemorySaving> savings;
  for (const Plan &smaller : listSmallerPlans(plan.plan, largest))
    if (const std::optional<FoundPlan> &found = workers.judge(smaller))
      if (int64_t saved = plan.size.getPeak() - found->size.getPeak(); saved > 0)
        savings.push_back({printDifference(plan.plan, smaller), saved});
  llvm::stable_sort(savings, [](auto &one, auto &other) { return one.bytes > other.bytes; });
  return savings;
}
