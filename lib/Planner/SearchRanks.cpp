//===- SearchRanks.cpp - ranks that have plans, and how many are enough -----------------------------===//
#include "SearchQueue.h"

using namespace mlir;
using namespace mlir::par;

/// A number of ranks that has plans is looked for so far from the one that is asked for.
static constexpr int64_t kFarthestRanks = 256;
/// At most so many ranks are looked at where fewer are too few.
static constexpr int64_t kMostRanks = 1 << 14;

bool PlanSearch::hasPlan(int64_t ranks,
                         llvm::function_ref<bool(const Plan &, const PlanEstimate &)> isWanted) {
  PlanRequest other = request;
  other.ranks = ranks;
  bool found = false;
  visitPlans(other, static_cast<int64_t>(tables.getKinds(request.plan).size()), [&](const Plan &plan) {
    if (found)
      return;
    std::optional<PlanEstimate> least = estimator.boundFamily(plan, true);
    found = least && isWanted(plan, *least);
  });
  return found;
}

std::optional<FoundPlan> PlanSearch::findLeast() {
  PlanRequest smallest = request;
  smallest.objective = Objective::Memory;
  SearchLimits ample;
  ample.usableBytes = SearchLimits::kNone;
  SearchResult found = PlanSearch(workers, cluster, smallest).run(ample);
  return found.plans.empty() ? std::nullopt : std::optional(std::move(found.plans.front()));
}

std::optional<int64_t> PlanSearch::findEnoughRanks() {
  if (cluster.device.isShared)
    return std::nullopt;
  auto mayFit = [&](const Plan &plan, const PlanEstimate &least) {
    return fitsByBound(plan, boundBytes(plan, least.bytes));
  };
  int64_t most = std::min(kMostRanks, cluster.getMostRanks().value_or(kMostRanks));
  for (int64_t ranks = 2 * request.ranks; ranks <= most; ranks *= 2)
    if (hasPlan(ranks, mayFit))
      return ranks;
  return std::nullopt;
}

std::vector<int64_t> PlanSearch::findNearestRanks() {
  auto hasPlans = [&](int64_t ranks) {
    return hasPlan(ranks, [](const Plan &, const PlanEstimate &) { return true; });
  };
  std::vector<int64_t> nearest;
  int64_t ranks = request.ranks;
  int64_t least = std::max<int64_t>(1, ranks - kFarthestRanks);
  int64_t most = std::min(ranks + kFarthestRanks, cluster.getMostRanks().value_or(ranks + kFarthestRanks));
  for (int64_t fewer = ranks - 1; fewer >= least && nearest.empty(); --fewer)
    if (hasPlans(fewer))
      nearest.push_back(fewer);
  for (int64_t more = ranks + 1, before = static_cast<int64_t>(nearest.size());
       more <= most && static_cast<int64_t>(nearest.size()) == before; ++more)
    if (hasPlans(more))
      nearest.push_back(more);
  return nearest;
}
