//===- PrintBlind.h - how far first predictions are off ---------------------------------------*- C++ -*-===//
#ifndef PAR_BENCHMARKS_PLANNER_PRINTBLIND_H
#define PAR_BENCHMARKS_PLANNER_PRINTBLIND_H

#include "JudgeRows.h"

namespace mlir::par {

/// Blind rows, each with what it was predicted to take at first, and as it is now.
struct BlindRows {
  std::vector<JudgedRow> withStack, withoutStack;
  std::vector<JudgedRow> now; ///< none where only what is recorded is judged
};

/// Prints their mean errors by group, with the stacks' stored factors, and of pairs of plans that are close.
void printBlind(const BlindRows &rows, llvm::ArrayRef<Stack> stacks);

/// Checks that par-plan claims what the first predictions of these rows say, and prints what it should claim
/// else.
bool checkClaims(const BlindRows &rows);

} // namespace mlir::par

#endif // PAR_BENCHMARKS_PLANNER_PRINTBLIND_H
