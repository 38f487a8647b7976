//===- RecomputeLimit.h - how much may be saved under a limit of memory -----------------------*- C++ -*-===//
#ifndef PAR_LIB_COMPILE_RECOMPUTELIMIT_H
#define PAR_LIB_COMPILE_RECOMPUTELIMIT_H

#include "MemoryLimit.h"

namespace mlir::par {

/// The most bytes that `--recompute auto` may save so that the peak is within `--memory-limit`, by bisection
/// over plans; where no plan is, those of the lowest peak that was seen.
int64_t findRecomputeLimit(const CompileOptions &options, PlanOther plan);

} // namespace mlir::par

#endif // PAR_LIB_COMPILE_RECOMPUTELIMIT_H
