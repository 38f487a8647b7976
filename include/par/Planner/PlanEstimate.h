//===- PlanEstimate.h - time and memory of a plan from tables ---------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_PLANESTIMATE_H
#define PAR_PLANNER_PLANESTIMATE_H

#include "par/Planner/ModelDivision.h"

namespace mlir::par {

/// Of a plan that is not compiled.
struct PlanEstimate {
  std::vector<int64_t> cuts; ///< where stages are cut best
  double seconds = 0;        ///< of a step
  double bytes = 0;          ///< of the stage that needs most
  /// The same if all that is saved were freed by the first part of a backward pass that is split.
  double leastBytes = 0;
};

/// Weighs plans by what their units take.
class PlanEstimator {
public:
  PlanEstimator(const Cluster &cluster, UnitTables &tables)
      : cluster(cluster), tables(tables), divisions(cluster) {}

  /// Nothing where there are no tables for the plan.
  std::optional<PlanEstimate> estimate(const Plan &plan);
  /// The same from tables that many plans share: time and memory are less than those of `estimate`.
  std::optional<PlanEstimate> bound(const Plan &plan);

private:
  /// What a schedule says of its chunks.
  struct Flights {
    std::vector<int64_t> stageOf;
    /// Micro-batches whose saved values a chunk holds at once: until all gradients are there, and until those
    /// of inputs are, where backward passes are split.
    std::vector<double> whole, untilInput;
  };
  const Flights &countFlights(const Plan &plan);
  PlanEstimate weigh(const Plan &plan, const std::vector<UnitTable> &kinds);

  const Cluster &cluster;
  UnitTables &tables;
  ModelDivisions divisions;
  std::map<std::tuple<ScheduleKind, int64_t, int64_t, int64_t>, Flights> flights;
};

} // namespace mlir::par

#endif // PAR_PLANNER_PLANESTIMATE_H
