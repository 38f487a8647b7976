//===- Strategies.cpp - what one kind of parallelism alone would take -----------------------------------===//
#include "par/Planner/Strategies.h"

#include <numeric>

using namespace mlir;
using namespace mlir::par;

namespace {
/// What it decides: sizes of axes, and ZeRO's stage.
struct Strategy {
  const char *name;
  NamedAxes axes;
  std::optional<int64_t> zero;
};
} // namespace

static std::vector<Strategy> listStrategies(const Cluster &cluster, int64_t ranks) {
  auto give = [&](AxisRole all) {
    NamedAxes axes;
    for (AxisRole role : kSearchedRoles)
      axes.emplace_back(getAxisName(role).str(), role == all ? ranks : 1);
    return axes;
  };
  std::vector<Strategy> list = {{"data parallelism", give(AxisRole::Batch), 0},
                                {"ZeRO-1", give(AxisRole::Batch), 1},
                                {"ZeRO-2", give(AxisRole::Batch), 2},
                                {"ZeRO-3", give(AxisRole::Batch), 3},
                                {"tensor parallelism", give(AxisRole::Tensor), std::nullopt},
                                {"pipeline", give(AxisRole::Pipeline), std::nullopt}};
  if (int64_t inNode = std::gcd(cluster.nodeRanks, ranks); inNode > 1 && inNode < ranks)
    list.push_back({"rule of thumb", makeMesh({{AxisRole::Tensor, inNode}}), 1});
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
  request.pinned.insert(getGroupAxis().str()); // hybrid sharding is no pure strategy
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
