//===- IntegerProgram.h - a linear program some of whose variables are whole numbers ----------*- C++ -*-===//
#ifndef PAR_SHARDINGSEARCH_INTEGERPROGRAM_H
#define PAR_SHARDINGSEARCH_INTEGERPROGRAM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <limits>
#include <utility>
#include <vector>

namespace mlir::par {

/// Least Σ cost · column, so that every row lies within its bounds. Columns are from 0 to 1.
struct IntegerProgram {
  static constexpr double kUnbounded = std::numeric_limits<double>::infinity();
  using Terms = std::vector<std::pair<int, double>>;

  struct Column {
    double cost;
    bool isInteger; ///< else any number from 0 to `most`
    double most = 1;
  };
  struct Row {
    Terms terms; ///< columns, each once, and their factors
    double least, most;
  };

  int addColumn(double cost, bool isInteger);
  void addRow(Terms terms, double least, double most) { rows.push_back({std::move(terms), least, most}); }

  std::vector<Column> columns;
  std::vector<Row> rows;
};

/// Where a search may end.
struct ProgramLimits {
  int mostNodes = 2000; ///< branches
  double gap = 0;       ///< share of the cost by which it may be above the least
};

struct ProgramAnswer {
  bool isFeasible = false;
  bool isCutOff = false;      ///< it ended at the most branches
  double cost = 0, bound = 0; ///< the least cost is at least `bound`
  std::vector<double> values; ///< of columns
};

/// Whether par was built with a solver.
bool hasSolver();

/// By COIN-OR CBC. The answer depends on the program and the limits alone, not on the machine or its load: no
/// limit is of time. An error where par was built without CBC.
llvm::Expected<ProgramAnswer> solveProgram(const IntegerProgram &program, const ProgramLimits &limits);

} // namespace mlir::par

#endif // PAR_SHARDINGSEARCH_INTEGERPROGRAM_H
