//===- PlainPlan.h - the plan that has least to it --------------------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_PLAINPLAN_H
#define PAR_PLANNER_PLAINPLAN_H

#include "par/Planner/PlanSpace.h"
#include "par/Planner/PlanWorkers.h"

namespace mlir::par {

/// What a plan does beyond data parallelism, each of which has to be understood by whoever runs it: a
/// pipeline, a split backward pass, offloading, recomputing, hybrid sharding, tensor parallelism, cuts by
/// hand. In words for an answer.
std::vector<llvm::StringRef> listMechanisms(const Plan &plan);
int64_t countMechanisms(const Plan &plan);

/// Of plans whose objective is at most `error`, a share, behind the best: the number of the one with fewest
/// mechanisms, of several the best. `plans` are not empty, the best first.
size_t findPlainest(llvm::ArrayRef<FoundPlan> plans, Objective objective, double error);

} // namespace mlir::par

#endif // PAR_PLANNER_PLAINPLAN_H
