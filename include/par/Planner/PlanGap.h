//===- PlanGap.h - by how much a plan is behind another, and where ----------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_PLANGAP_H
#define PAR_PLANNER_PLANGAP_H

#include "par/Planner/PlanSearch.h"

namespace mlir::par {

/// A plan beside a better one.
struct PlanGap {
  double seconds = 0; ///< more of a step
  double share = 0;   ///< of the better one's step
  /// What it spends more seconds on, or less; the largest first, none that is less than a tenth of that. The
  /// terms of a plan are those of its busiest stage, and sum up to its step.
  std::vector<std::pair<std::string, double>> terms;
};

PlanGap findGap(const FoundPlan &better, const FoundPlan &plan);

} // namespace mlir::par

#endif // PAR_PLANNER_PLANGAP_H
