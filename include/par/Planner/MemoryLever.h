//===- MemoryLever.h - what a plan does to fit ------------------------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_MEMORYLEVER_H
#define PAR_PLANNER_MEMORYLEVER_H

#include "par/Planner/PlanEstimate.h"

namespace mlir::par {

/// One decision of a plan without which it would be quicker, but not fit. By estimates.
struct MemoryLever {
  Plan without;          ///< the quicker plan
  std::string flags;     ///< for par-compile: the decision that it lacks
  int64_t stage = 0;     ///< that would not fit without it
  double shortBytes = 0; ///< that stage would lack
  double share = 0;      ///< of the step, which would be so much shorter
};

/// The levers of a plan whose ranks have `usable` bytes: running again, offloading, and ZeRO's stage, one
/// step back each. `slack`: by what factor an estimate of memory may be off; what may fit is no lever.
std::vector<MemoryLever> findMemoryLevers(const Plan &plan, PlanEstimator &estimator, double usable,
                                          double slack);

} // namespace mlir::par

#endif // PAR_PLANNER_MEMORYLEVER_H
