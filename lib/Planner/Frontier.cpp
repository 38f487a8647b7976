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
    limits.usableBytes = 0.9 * static_cast<double>(result.plans.front().size.getPeak());
    frontier.push_back(std::move(result.plans.front()));
  }
  return frontier;
}
