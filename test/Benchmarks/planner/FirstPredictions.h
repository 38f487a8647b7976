//===- FirstPredictions.h - what rows were predicted to take at first sight -------------------*- C++ -*-===//
#ifndef PAR_BENCHMARKS_PLANNER_FIRSTPREDICTIONS_H
#define PAR_BENCHMARKS_PLANNER_FIRSTPREDICTIONS_H

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

namespace mlir::par {

/// Seconds of a step, before anything was changed on the row's account.
struct FirstPrediction {
  double withStack = 0;    ///< with the stack file of the row's software and its stored factor
  double withoutStack = 0; ///< with the default one, par's own ways, as it is
};

/// Reads predictions by ids of rows. Rows that are in it are blind, all others have been looked at.
/// Errors: a file without `rows`, each `"id": [seconds, seconds]`.
llvm::Expected<llvm::StringMap<FirstPrediction>> readFirstPredictions(llvm::StringRef path);

} // namespace mlir::par

#endif // PAR_BENCHMARKS_PLANNER_FIRSTPREDICTIONS_H
