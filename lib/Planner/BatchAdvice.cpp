//===- BatchAdvice.cpp - a batch that divides better ----------------------------------------------------===//
#include "par/Planner/BatchAdvice.h"

using namespace mlir::par;

static double getSequenceSeconds(const FoundPlan &found) {
  return found.seconds / static_cast<double>(found.plan.batch);
}

std::vector<BatchAdvice> mlir::par::adviseBatch(PlanWorkers &workers, const Cluster &cluster,
                                                const PlanRequest &request, const FoundPlan &best,
                                                double error, double seconds) {
  int64_t batch = request.plan.batch, ranks = best.plan.countRanks();
  std::vector<BatchAdvice> advice;
  if (request.isGraph || request.objective != Objective::Time || batch < ranks || batch % ranks == 0)
    return advice;
  for (int64_t other : {batch / ranks * ranks, (batch / ranks + 1) * ranks}) {
    PlanRequest neighbour = request;
    neighbour.plan.batch = other;
    SearchLimits limits;
    limits.seconds = seconds;
    limits.known = getSequenceSeconds(best) * (1 - error) * static_cast<double>(other);
    SearchResult result = PlanSearch(workers, cluster, neighbour).run(limits);
    if (!result.plans.empty() && result.plans.front().seconds < limits.known)
      advice.push_back(
          {result.plans.front(), 1 - getSequenceSeconds(result.plans.front()) / getSequenceSeconds(best)});
  }
  llvm::stable_sort(advice, [](auto &one, auto &other) { return one.saved > other.saved; });
  return advice;
}
