//===- MemoryLimit.h - plans that do not fit, and what would ----------------------------------*- C++ -*-===//
#ifndef PAR_LIB_COMPILE_MEMORYLIMIT_H
#define PAR_LIB_COMPILE_MEMORYLIMIT_H

#include "CommandLine.h"
#include "par/Emit/MemoryProfile.h"

namespace mlir::par {

/// What a rank needs under some flags, in bytes.
struct PlanSize {
  int64_t peak = 0;
  int64_t saved = 0; ///< of that from forward to backward pass, at most
};
/// The same under other flags; nothing if they do not compile.
using PlanOther = llvm::function_ref<std::optional<PlanSize>(const CompileOptions &)>;

/// One `error:` line with what is needed, by how much it is too much, at which kernel, and the cheapest
/// changes of flags that fit; then notes with what is live there. `batch` = sequences of a step.
void printTooLarge(const CompileOptions &options, const MemoryProfile &profile, int64_t batch, PlanOther plan,
                   llvm::raw_ostream &os);

/// Bytes by category and the largest buffers that are live at the peak, each line after `prefix`.
void printLiveAtPeak(const MemoryProfile &profile, llvm::StringRef prefix, llvm::raw_ostream &os);

} // namespace mlir::par

#endif // PAR_LIB_COMPILE_MEMORYLIMIT_H
