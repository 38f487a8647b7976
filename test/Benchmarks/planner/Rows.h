//===- Rows.h - published training runs -----------------------------------------------------*- C++ -*-===//
#ifndef PAR_BENCHMARKS_PLANNER_ROWS_H
#define PAR_BENCHMARKS_PLANNER_ROWS_H

#include "par/Plan/Plan.h"
#include "llvm/Support/JSON.h"

#include <tuple>

namespace mlir::par {

/// What a model's shape is; where the source does not say, what such models have.
struct RowModel {
  std::string name;
  int64_t layers = 0, hidden = 0, heads = 0, keyHeads = 0, feedForward = 0, vocabulary = 0, seq = 0;
  /// Models are one where these are equal.
  auto getSizes() const {
    return std::make_tuple(layers, hidden, heads, keyHeads, feedForward, vocabulary, seq);
  }
};

struct RowCluster {
  std::string device;
  int64_t nodeRanks = 8, ranks = 1;
  double nodeRate = 0; ///< bytes per second in and out of a node; 0: not said
  /// Clusters are one where these are equal.
  auto getParts() const { return std::make_tuple(device, nodeRanks, ranks, nodeRate); }
};

enum class RowRecompute { None, Selective, Full };

/// One measured run: a model, a cluster, a plan, and what was measured.
struct Row {
  std::string id, group; ///< the group is what the id begins with
  RowModel model;
  RowCluster cluster;
  Plan plan;              ///< without recomputing, which is for the stack to say
  bool sumsInF32 = false; ///< gradients of micro-batches
  bool isLayer = false;   ///< one layer alone was measured, forward and back
  RowRecompute recompute = RowRecompute::None;
  double seconds = 0;   ///< of a step
  double peakBytes = 0; ///< 0: not measured
  std::string refusal;  ///< why there is no plan of par for it; empty: there is one
};

/// Errors: a file that is no list of rows.
llvm::Expected<std::vector<Row>> readRows(llvm::StringRef path);

} // namespace mlir::par

#endif // PAR_BENCHMARKS_PLANNER_ROWS_H
