//===- RecomputeLimit.h - how much may be saved under a limit of memory -----------------------*- C++ -*-===//
#ifndef PAR_LIB_COMPILE_RECOMPUTELIMIT_H
#define PAR_LIB_COMPILE_RECOMPUTELIMIT_H

#include "par/Compile/PlanTrials.h"

namespace mlir::par {

/// The most bytes that each stage of `plan`, whose policy is auto, may save so that its peak is within
/// `memoryLimit` bytes, by bisection over plans; where no plan is, those of the lowest peak that was seen.
StageNumbers findRecomputeLimit(const Plan &plan, int64_t memoryLimit, PlanTrials &trials);

} // namespace mlir::par

#endif // PAR_LIB_COMPILE_RECOMPUTELIMIT_H
