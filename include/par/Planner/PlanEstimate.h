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
  int64_t fullestStage = 0;
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
    /// Micro-batches that a chunk holds at once: from forward pass to backward pass, or its first part; where
    /// it is split, from forward pass to the second part, and between the parts.
    std::vector<double> saved, savedForWeight, handed;
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
