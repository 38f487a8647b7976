//===- StateTable.h - what a stage stores of variables ----------------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_STATETABLE_H
#define PAR_PLANNER_STATETABLE_H

#include "par/Planner/StateRows.h"
#include "par/Planner/UnitTable.h"
#include "par/Support/MadeOnce.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::par {

/// A row of collectives, summed up.
struct ExchangeSum {
  double bytes = 0;   ///< of the parameters
  double seconds = 0; ///< tensor by tensor
};

/// The sums of rows over a set of variables on one rank.
struct StateTable {
  double device = 0, host = 0; ///< bytes
  double gathered = 0;         ///< bytes that passes read, of what is gathered once for all
  double staged = 0; ///< bytes of one parameter's on the host, which are on the device to be updated
  double update = 0, copies = 0;               ///< seconds, once a step
  llvm::SmallVector<ExchangeSum, 4> exchanged; ///< by row

  void add(const StateTable &other, int64_t times = 1);
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

  /// Whether no chunk before reads it.
  bool takes(const SharedState &variable) { return known.insert(variable.number).second; }

private:
  llvm::SmallDenseSet<int64_t, 4> known;
};

/// Seconds of what ranks of data parallelism exchange on one cluster. They lie outside of tensor parallelism,
/// inside of stages. Threads may share it.
class ExchangeTimes {
public:
  explicit ExchangeTimes(const Cluster &cluster) : cluster(cluster) {}

  /// Of a row, for parameters of so many bytes; small ones travel together. `anyGroup`: the least, by any
  /// groups that state may be divided over (PlanSpace.h).
  double measure(const CollectiveRow &row, llvm::ArrayRef<double> parameters, double bucketBytes,
                 const MeshRanks &ranks, bool anyGroup);

private:
  /// What seconds of a row depend on, and its parameters.
  using Key = std::tuple<CollectiveKind, DataAxes, DataAxes, double, int64_t, int64_t, int64_t, int64_t,
                         std::vector<double>>;

  const Cluster &cluster;
  MadeOnce<Key, double> known;
};

/// Sums up variables under a plan's rows.
class StateSummer {
public:
  StateSummer(const StateRows &rows, const MeshRanks &ranks, bool anyGroup, const Cluster &cluster,
              ExchangeTimes &times)
      : rows(rows), ranks(ranks), anyGroup(anyGroup), cluster(cluster), times(times) {}

  /// `update`: seconds for each byte of a trained parameter that one rank has all of.
  StateTable sum(llvm::ArrayRef<const VariableTable *> variables, double update) const;
  /// Makes times those of tensors that all travel together.
  void join(StateTable &table) const;

private:
  void store(const VariableTable &variable, StateTable &table) const;

  const StateRows &rows;
  const MeshRanks &ranks;
  const bool anyGroup;
  const Cluster &cluster;
  ExchangeTimes &times;
};

} // namespace mlir::par

#endif // PAR_PLANNER_STATETABLE_H
