//===- Strategies.h - what one kind of parallelism alone would take ---------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_STRATEGIES_H
#define PAR_PLANNER_STRATEGIES_H

#include "par/Planner/PlanSearch.h"

namespace mlir::par {

/// The best plan of a strategy, which decides a part of it by what people do by hand.
struct StrategyRow {
  std::string name;
  std::optional<FoundPlan> plan;
  /// Where none fits: bytes of a rank that the closest takes at least. Neither: it has no plan of these
  /// ranks.
  std::optional<double> leastBytes;
};

/// Data parallelism without and with each stage of ZeRO, tensor parallelism, pipelines, and the rule of
/// thumb: tensor parallelism within a node, pipelines and data parallelism with ZeRO-1 over nodes. What is
/// not a strategy's own is searched. Strategies that contradict the request's pins are left out.
/// `seconds`: of each search, as `PlanSearch::run`.
std::vector<StrategyRow> compareStrategies(PlanWorkers &workers, const Cluster &cluster,
                                           const PlanRequest &request, double seconds);

} // namespace mlir::par

#endif // PAR_PLANNER_STRATEGIES_H
