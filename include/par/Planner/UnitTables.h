//===- UnitTables.h - what the layers of a model take, kind by kind ---------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_UNITTABLES_H
#define PAR_PLANNER_UNITTABLES_H

#include "par/Planner/PlanWorkers.h"
#include "par/Support/MadeOnce.h"

#include <set>

namespace mlir::par {

/// For the plans of one request. Units of one kind are compiled once: a model of one unit of each kind, a
/// stage each, by the very passes and costs that judge whole plans.
class UnitTables {
public:
  /// `isGraph`: of the model (PlanRequest).
  explicit UnitTables(PlanWorkers &workers, bool isGraph = false) : workers(workers), isGraph(isGraph) {}

  /// No kinds where the model has no forward function that could be cut.
  const FoldedUnits &getUnits(const Plan &plan) { return workers.getUnits(plan); }
  /// By unit of the model, which of the kinds it is.
  const std::vector<int64_t> &getKinds(const Plan &plan) { return getUnits(plan).kinds; }
  /// By kind; null where such a model does not compile. Of `plan` counts what a layer on one rank depends on:
  /// tensor and sequence parallelism, rows, types, recomputing. With overlap, collectives of tensor
  /// parallelism are taken to be waited for less: `getExact` compiles that, too.
  const std::vector<UnitTable> *get(const Plan &plan);
  const std::vector<UnitTable> *getExact(const Plan &plan);
  /// What no unit of such a plan takes less than, from one compilation for many plans: with as many rows as
  /// are usual at most, and backward passes whole. `anyRecompute`: `saved` is the least that is held whatever
  /// is run again. Once it is made, any thread may ask for it.
  const std::vector<UnitTable> *getLeast(const Plan &plan, bool anyRecompute);

  /// What ranks of data parallelism store and exchange under the plan; null where such a model does not
  /// compile. Of `plan` counts how state is divided, gathered and offloaded, overlap, and whether backward
  /// passes have two parts: plans that differ otherwise share them.
  const StateRows *getRows(const Plan &plan) { return getRows(plan, splitsUnits(plan)); }
  /// The same with backward passes whole. Once it is made, any thread may ask for it.
  const StateRows *getLeastRows(const Plan &plan) { return getRows(plan, /*isSplit=*/false); }

  /// `get` or `getLeast` may be called soon.
  void expect(const Plan &plan);
  void expectLeast(const Plan &plan);

private:
  /// What bounds of a request's plans depend on: tensor-parallel ranks, sequence parallelism, recomputing,
  /// rows of a micro-batch on a rank, overlap.
  using Traits = std::tuple<int64_t, bool, RecomputeKind, int64_t, bool>;
  static Traits getTraits(const Plan &plan);
  const std::vector<UnitTable> *getCompiled(const Plan &unit);
  int64_t countKinds(const Plan &plan);
  bool splitsUnits(const Plan &plan);
  Plan restrictToUnit(const Plan &plan);
  Plan restrictToState(const Plan &plan, bool isSplit);
  const StateRows *getRows(const Plan &plan, bool isSplit);
  Plan restrictToLeast(const Plan &plan);

  PlanWorkers &workers;
  const bool isGraph;
  std::map<const void *, std::vector<UnitTable>> overlapped; ///< by table
  /// The decisions that rows depend on: ZeRO's stage and when it gathers, overlap, offloading, parts of
  /// backward passes, and bytes of tensors that travel together.
  using StateTraits = std::tuple<int64_t, GatherTime, bool, OffloadKind, bool, std::optional<int64_t>>;
  static StateTraits getStateTraits(const Plan &plan, bool isSplit);
  MadeOnce<StateTraits, std::optional<StateRows>> states;
  MadeOnce<std::pair<Traits, bool>, std::optional<std::vector<UnitTable>>> least;
  std::set<Traits> expected;
  std::set<StateTraits> expectedStates;
};

} // namespace mlir::par

#endif // PAR_PLANNER_UNITTABLES_H
