//===- CheckPins.h - what is given to a search makes sense ------------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_CHECKPINS_H
#define PAR_PLANNER_CHECKPINS_H

#include "par/Planner/PlanSpace.h"
#include "llvm/Support/Error.h"

namespace mlir::par {

/// Refuses what no plan can have, by the checks and in the words of par-compile (CheckPlan.h), and what is
/// not searched. What depends on parts that are still open is left to the search.
llvm::Error checkPins(const PlanRequest &request);

/// Stages, chunks and where they are pinned to begin, against the units that the model has.
llvm::Error checkPinnedUnits(const PlanRequest &request, int64_t units);

} // namespace mlir::par

#endif // PAR_PLANNER_CHECKPINS_H
