//===- MemoryLimit.h - plans under a limit of memory ------------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_COMPILE_MEMORYLIMIT_H
#define PAR_LIB_COMPILE_MEMORYLIMIT_H

#include "CommandLine.h"
#include "par/Compile/PlanTrials.h"
#include "par/Emit/MemoryProfile.h"

namespace mlir::par {

/// Decides what the plan leaves open so that it is within its limit: how much of each stage `--recompute
/// auto` saves, and else where stages are cut, which is noted. What is run again moves nothing.
void decideForLimit(CompileOptions &options, PlanTrials &trials);

/// Of the stage that needs most: one `error:` line with what is needed, by how much it is too much, at which
/// kernel, and the cheapest changes of the plan that fit, as flags; then notes with what is live there.
void printTooLarge(const CompileOptions &options, llvm::ArrayRef<MemoryProfile> stages, PlanTrials &trials,
                   llvm::raw_ostream &os);

/// Bytes by category and the largest buffers that are live at the peak, each line after `prefix`.
void printLiveAtPeak(const MemoryProfile &profile, llvm::StringRef prefix, llvm::raw_ostream &os);

} // namespace mlir::par

#endif // PAR_LIB_COMPILE_MEMORYLIMIT_H
