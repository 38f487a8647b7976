//===- PlainPlan.h - the plan that has least to it --------------------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_PLAINPLAN_H
#define PAR_PLANNER_PLAINPLAN_H

#include "par/Planner/PlanSpace.h"
#include "par/Planner/PlanWorkers.h"

namespace mlir::par {

/// Mechanisms are what a plan does beyond data parallelism, and has to be understood by whoever runs it: a
/// pipeline, a split backward pass, offloading, recomputing, hybrid sharding, tensor parallelism, cuts by
/// hand. They are listed in words for an answer.
std::vector<llvm::StringRef> listMechanisms(const Plan &plan);
int64_t countMechanisms(const Plan &plan);

/// Finds the number of the plan with fewest mechanisms among those whose objective is at most `error`, a
/// share, behind the best; of several the best. `plans` are not empty, the best first.
size_t findPlainest(llvm::ArrayRef<FoundPlan> plans, Objective objective, double error);

} // namespace mlir::par

#endif // PAR_PLANNER_PLAINPLAN_H
