//===- PrintSummary.h - how far predictions are off, by software and by source ----------------*- C++ -*-===//
#ifndef PAR_BENCHMARKS_PLANNER_PRINTSUMMARY_H
#define PAR_BENCHMARKS_PLANNER_PRINTSUMMARY_H

#include "JudgeRows.h"

namespace mlir::par {

/// The stack's stored factor, or the median of those that have one.
double getStored(const Stack &stack, llvm::ArrayRef<Stack> stacks);

/// Prints a table by stack and one by group of rows, rows that contradict each other, and what split backward
/// passes save; nothing of no rows.
void printSummary(llvm::ArrayRef<JudgedRow> rows, llvm::ArrayRef<Stack> stacks);

} // namespace mlir::par

#endif // PAR_BENCHMARKS_PLANNER_PRINTSUMMARY_H
