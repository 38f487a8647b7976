//===- MeasureProcess.h - par-measure as a child ----------------------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_MEASUREPROCESS_H
#define PAR_PLANNER_MEASUREPROCESS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <chrono>
#include <string>

namespace mlir::par {

/// Runs `tool` with `-o -` and returns its standard output. The child process ends with this one, however
/// this one ends, and is ended at the deadline, which is an error.
llvm::Expected<std::string> runMeasureTool(llvm::StringRef tool,
                                           std::chrono::steady_clock::time_point deadline);

} // namespace mlir::par

#endif // PAR_PLANNER_MEASUREPROCESS_H
