//===- Strategies.cpp - what one kind of parallelism alone would take -----------------------------------===//
#include "par/Planner/Strategies.h"

#include <numeric>

using namespace mlir;
using namespace mlir::par;

namespace {
/// What it decides: sizes of axes, and ZeRO's stage.
struct Strategy {
  const char *name;
  std::vector<std::pair<std::string, int64_t>> axes;
  std::optional<int64_t> zero;
};
} // namespace

static std::vector<Strategy> listStrategies(const Cluster &cluster, int64_t ranks) {
  const std::string pp = kPipelineAxis.str(), dp = "dp", tp = "tp";
  std::vector<Strategy> list = {{"data parallelism", {{pp, 1}, {dp, ranks}, {tp, 1}}, 0},
                                {"ZeRO-1", {{pp, 1}, {dp, ranks}, {tp, 1}}, 1},
                                {"ZeRO-2", {{pp, 1}, {dp, ranks}, {tp, 1}}, 2},
                                {"ZeRO-3", {{pp, 1}, {dp, ranks}, {tp, 1}}, 3},
                                {"tensor parallelism", {{pp, 1}, {dp, 1}, {tp, ranks}}, std::nullopt},
                                {"pipeline", {{pp, ranks}, {dp, 1}, {tp, 1}}, std::nullopt}};
  if (int64_t inNode = std::gcd(cluster.nodeRanks, ranks); inNode > 1 && inNode < ranks)
    list.push_back({"rule of thumb", {{tp, inNode}}, 1});
  return list;
}

/// The request with the strategy's decisions; nothing where it has others already.
static std::optional<PlanRequest> pinStrategy(PlanRequest request, const Strategy &strategy) {
  for (auto &[axis, size] : strategy.axes) {
    if (!request.pinned.insert(axis).second && request.plan.getAxis(axis) != size)
      return std::nullopt;
    llvm::erase_if(request.plan.mesh, [&, axis = axis](auto &known) { return known.first == axis; });
    request.plan.mesh.emplace_back(axis, size);
  }
  request.pinned.insert("dp_shard"); // hybrid sharding is no pure strategy
  if (strategy.zero) {
    if (!request.pinned.insert("zero").second && request.plan.zero != *strategy.zero)
      return std::nullopt;
    request.plan.zero = *strategy.zero;
  }
  return request;
}

std::vector<StrategyRow> par::compareStrategies(PlanWorkers &workers, const Cluster &cluster,
                                                const PlanRequest &request, double seconds) {
  std::vector<StrategyRow> rows;
  SearchLimits limits;
  limits.seconds = seconds;
  for (const Strategy &strategy : listStrategies(cluster, request.ranks)) {
    std::optional<PlanRequest> restricted = pinStrategy(request, strategy);
    if (!restricted)
      continue;
    SearchResult result = PlanSearch(workers, cluster, *restricted).run(limits);
    StrategyRow &row = rows.emplace_back();
    row.name = strategy.name;
    if (!result.plans.empty())
      row.plan = std::move(result.plans.front());
    else if (result.closest)
      row.leastBytes = result.closest->second;
  }
  return rows;
}
