//===- StateTable.h - what a stage stores of variables ----------------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_STATETABLE_H
#define PAR_PLANNER_STATETABLE_H

#include "par/Plan/Plan.h"
#include "par/Planner/UnitTable.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::par {

/// The tensors that ranks of data parallelism exchange: `all` and `trained` hold the bytes of each parameter
/// and of each trained one, `gradients` the bytes of all gradients together.
struct DataTensors {
  std::vector<double> all, trained;
  double gradients = 0;

  void add(const VariableTable &variable);
  bool operator<(const DataTensors &other) const {
    return std::tie(gradients, all, trained) < std::tie(other.gradients, other.all, other.trained);
  }
};

/// Seconds in which the ranks of data parallelism exchange parameters or gradients, tensor by tensor. They
/// lie outside of tensor parallelism, inside of stages.
struct DataTimes {
  DataTimes() = default;
  /// `groupRanks`: over which state is divided.
  DataTimes(const DataTensors &tensors, const Plan &plan, int64_t groupRanks, const Cluster &cluster);

  void add(const DataTimes &other, double times);
  void takeLeast(const DataTimes &other);

  /// Seconds to gather all parameters, to gather the trained ones, to all-reduce gradients, to reduce-scatter
  /// them, and to all-reduce a rank's part of them among the groups of ranks.
  double gather = 0, gatherTrained = 0, reduce = 0, scatter = 0, reduceParts = 0;
};

/// Small tensors travel together (`--bucket-bytes`).
double getBucketBytes(const Plan &plan);

/// The undivided state of a set of variables on one rank, and the seconds that a step spends on it once.
struct StateTable {
  double parameters = 0, gradients = 0, optimizer = 0; ///< bytes
  double trained = 0;                                  ///< bytes of parameters that have gradients
  int64_t states = 0;                                  ///< tensors of the optimizer
  double largestOptimizer = 0;                         ///< bytes of the optimizer's state of one parameter
  double update = 0;                                   ///< seconds
  DataTimes data;

  /// `update`: seconds.
  void add(const VariableTable &variable, double update);
  void add(const StateTable &other, int64_t times = 1);
  /// Of each number of bytes the larger one.
  void raise(const StateTable &other);

  double sum() const { return parameters + gradients + optimizer; }
};

/// Of a variable that other units of the model may read, too: its number there (SharedVariable).
struct SharedState {
  int64_t number;
  StateTable state;
};

/// A stage stores a variable once, however many of its units read it.
class StageVariables {
public:
  /// What a chunk of the stage adds to it, of which `own` is read by none of another chunk: with that of
  /// `shared` that no chunk before has added. Its functions are those that reduce and update it
  /// (par-build-optimizer).
  StateTable add(StateTable own, llvm::ArrayRef<SharedState> shared);

private:
  llvm::SmallDenseSet<int64_t, 4> known;
};

} // namespace mlir::par

#endif // PAR_PLANNER_STATETABLE_H
