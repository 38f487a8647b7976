//===- BatchAdvice.h - a batch that divides better --------------------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_BATCHADVICE_H
#define PAR_PLANNER_BATCHADVICE_H

#include "par/Planner/PlanSearch.h"

namespace mlir::par {

/// Another batch, and its best plan.
struct BatchAdvice {
  FoundPlan plan;
  double saved = 0; ///< share of a sequence's time
};

/// Looks for better batches beside one of at least as many sequences as ranks that is no multiple of them:
/// the next multiples below and above, as far as a sequence takes less than `1 - error` of its time then. The
/// one that saves most comes first. `seconds`: of each search, as `PlanSearch::run`.
std::vector<BatchAdvice> adviseBatch(PlanWorkers &workers, const Cluster &cluster, const PlanRequest &request,
                                     const FoundPlan &best, double error, double seconds);

} // namespace mlir::par

#endif // PAR_PLANNER_BATCHADVICE_H
