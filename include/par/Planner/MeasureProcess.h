//===- MeasureProcess.h - par-measure as a child ----------------------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_MEASUREPROCESS_H
#define PAR_PLANNER_MEASUREPROCESS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <chrono>
#include <string>

namespace mlir::par {

/// What the program `tool` writes to its standard output for `-o -`. It ends with this process, however that
/// ends, and is ended at the deadline, which is an error.
llvm::Expected<std::string> runMeasureTool(llvm::StringRef tool,
                                           std::chrono::steady_clock::time_point deadline);

} // namespace mlir::par

#endif // PAR_PLANNER_MEASUREPROCESS_H
