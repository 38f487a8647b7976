//===- CutLimit.h - cuts of a pipeline under a limit of memory --------------------------------*- C++ -*-===//
#ifndef PAR_LIB_COMPILE_CUTLIMIT_H
#define PAR_LIB_COMPILE_CUTLIMIT_H

#include "par/Compile/PlanTrials.h"

namespace mlir::par {

/// Cuts with which every stage of `plan`, which has none of its own, is within `memoryLimit` bytes, and the
/// slowest chunk is as short as it can be then. None where those that are chosen without a limit fit, and
/// where no others were found.
std::vector<int64_t> findFittingCuts(const Plan &plan, int64_t memoryLimit, PlanTrials &trials);

} // namespace mlir::par

#endif // PAR_LIB_COMPILE_CUTLIMIT_H
