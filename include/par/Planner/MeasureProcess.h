//===- MeasureProcess.h - par-measure as a child ----------------------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_MEASUREPROCESS_H
#define PAR_PLANNER_MEASUREPROCESS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <chrono>
#include <string>

namespace mlir::par {

/// Runs `tool` for so many rounds and returns what it wrote to standard output, at the deadline what it has
/// written by then. The child process ends with this one, however this one ends, and is ended at the
/// deadline.
llvm::Expected<std::string> runMeasureTool(llvm::StringRef tool, int64_t rounds,
                                           std::chrono::steady_clock::time_point deadline);

} // namespace mlir::par

#endif // PAR_PLANNER_MEASUREPROCESS_H
