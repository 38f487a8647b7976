//===- JudgeRows.h - how far predictions are from what was measured ----------------------------*- C++
//-*-===//
#ifndef PAR_BENCHMARKS_PLANNER_JUDGEROWS_H
#define PAR_BENCHMARKS_PLANNER_JUDGEROWS_H

#include "PredictRow.h"

namespace mlir::par {

struct JudgedRow {
  const Row *row;
  const Stack *stack; ///< with which it was predicted
  RowPrediction prediction;

  double getRatio() const { return prediction.seconds / row->seconds; }
};

/// |predicted / efficiency / measured - 1|, on average.
double getError(llvm::ArrayRef<JudgedRow> rows, double efficiency);
/// By which predictions have to be divided so that the average error is least: a stack's one factor.
double fitEfficiency(llvm::ArrayRef<JudgedRow> rows);
/// The error of every second row with the factor of the others, both ways.
double getCrossError(llvm::ArrayRef<JudgedRow> rows);

/// The average error of peak memory, of rows for which it was measured; nothing where there are none.
std::optional<double> getMemoryError(llvm::ArrayRef<JudgedRow> rows);

/// Plans of one model on one cluster with one batch.
struct OrderScore {
  int64_t pairs = 0, right = 0; ///< whose measured times differ by more than 10 %
  int64_t choices = 0;          ///< sets with two plans or more
  double behind = 0, worst = 0; ///< of the chosen plan to the best measured: sum of shares, and the largest
};
OrderScore judgeOrder(llvm::ArrayRef<JudgedRow> rows);

/// Two plans of one model on one cluster with one batch that are predicted to be at most 10 % apart.
struct ComparisonScore {
  int64_t pairs = 0;
  /// |ratio of predictions / ratio of measurements - 1|: half of the pairs have less; and on average.
  double median = 0, mean = 0;
};
ComparisonScore judgeComparisons(llvm::ArrayRef<JudgedRow> rows);

/// The share of 1F1B's step that a schedule with backward passes in two parts saves.
struct GainScore {
  int64_t pairs = 0;
  double measured = 0, predicted = 0; ///< shares, on average
  double error = 0;                   ///< of a pair, on average
};
/// Each row of `schedule` is compared with the row of 1F1B that differs in its schedule alone.
GainScore judgeGain(llvm::ArrayRef<JudgedRow> rows, ScheduleKind schedule);

/// A row of the same plan with more micro-batches, which took so little longer that both cannot be: the time
/// of a step grows with its micro-batches. Null: there is none.
const JudgedRow *findContradiction(const JudgedRow &judged, llvm::ArrayRef<JudgedRow> rows);

} // namespace mlir::par

#endif // PAR_BENCHMARKS_PLANNER_JUDGEROWS_H
