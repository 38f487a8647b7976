//===- Frontier.cpp - step time against memory ----------------------------------------------------------===//
#include "par/Planner/Frontier.h"

using namespace mlir::par;

std::vector<FoundPlan> mlir::par::findFrontier(PlanWorkers &workers, const Cluster &cluster,
                                               PlanRequest request, double seconds) {
  constexpr size_t most = 12;
  request.objective = Objective::Time;
  PlanSearch search(workers, cluster, request);
  SearchLimits limits;
  limits.seconds = seconds;
  limits.usableBytes = SearchLimits::kNone;
  std::vector<FoundPlan> frontier;
  while (frontier.size() < most) {
    SearchResult result = search.run(limits);
    if (result.plans.empty())
      break;
    FoundPlan &found = result.plans.front();
    limits.usableBytes = 0.9 * static_cast<double>(found.size.getPeak());
    // Estimates are not exact: with less memory something quicker may turn up.
    while (!frontier.empty() && frontier.back().seconds >= found.seconds)
      frontier.pop_back();
    frontier.push_back(std::move(found));
  }
  return frontier;
}
