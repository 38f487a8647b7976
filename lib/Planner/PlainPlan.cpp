//===- PlainPlan.cpp - the plan that has least to it ----------------------------------------------------===//
#include "par/Planner/PlainPlan.h"
#include "par/Planner/PlanSearch.h"

using namespace mlir::par;

namespace {
struct Mechanism {
  llvm::StringLiteral name;
  bool (*isUsed)(const Plan &);
};
} // namespace

static bool isHybrid(const Plan &plan) {
  return plan.zero > 0 &&
         llvm::any_of(plan.mesh, [](auto &axis) { return !getWholeAxis(axis.first).empty(); });
}

static constexpr Mechanism kMechanisms[] = {
    {"a pipeline", [](const Plan &plan) { return plan.countStages() > 1; }},
    {"a split backward pass", [](const Plan &plan) { return splitsBackward(plan.schedule); }},
    {"offloading", [](const Plan &plan) { return plan.offload != OffloadKind::None; }},
    {"recomputing", [](const Plan &plan) { return plan.recompute != RecomputeKind::None; }},
    {"hybrid sharding", isHybrid},
    {"tensor parallelism", [](const Plan &plan) { return plan.countRanks(AxisRole::Tensor) > 1; }},
    {"cuts by hand", [](const Plan &plan) { return !plan.cuts.empty(); }},
};

std::vector<llvm::StringRef> mlir::par::listMechanisms(const Plan &plan) {
  std::vector<llvm::StringRef> names;
  for (const Mechanism &mechanism : kMechanisms)
    if (mechanism.isUsed(plan))
      names.push_back(mechanism.name);
  return names;
}

int64_t mlir::par::countMechanisms(const Plan &plan) {
  return llvm::count_if(kMechanisms, [&](const Mechanism &mechanism) { return mechanism.isUsed(plan); });
}

size_t mlir::par::findPlainest(llvm::ArrayRef<FoundPlan> plans, Objective objective, double error) {
  double limit = getObjective(plans.front(), objective) * (1 + error);
  size_t plainest = 0;
  for (auto [number, found] : llvm::enumerate(plans))
    if (getObjective(found, objective) <= limit &&
        countMechanisms(found.plan) < countMechanisms(plans[plainest].plan))
      plainest = number;
  return plainest;
}
