//===- UnitTables.h - what the layers of a model take, kind by kind ---------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_UNITTABLES_H
#define PAR_PLANNER_UNITTABLES_H

#include "par/Compile/PlanTrials.h"
#include "par/Cost/Cluster.h"
#include "par/Cost/TimeTerms.h"

namespace mlir::par {

/// What a unit of the model takes of one rank of its tensor-parallel group, whose state is not divided
/// otherwise.
struct UnitTable {
  TimeTerms forward, backward;                         ///< of a micro-batch
  TimeTerms backwardInput, backwardWeight;             ///< the same in two parts, of schedules that split it
  TimeTerms update;                                    ///< once a step
  double parameters = 0, gradients = 0, optimizer = 0; ///< bytes
  std::vector<double> tensors;                         ///< bytes of each of its parameters
  /// Bytes that a micro-batch holds: between forward and backward pass; where that is split, from the forward
  /// pass to the second part, and between the parts.
  double saved = 0, savedForWeight = 0, handed = 0;
  double workspace = 0; ///< bytes, of all else at the peak
  double handedOn = 0;  ///< bytes of a micro-batch to the next unit
};

/// Units of one kind are compiled once: a model of one unit of each kind, a stage each, by the very passes
/// and costs that judge whole plans.
class UnitTables {
public:
  /// `import` as of PlanTrials: the whole model.
  UnitTables(MLIRContext &context, const Cluster &cluster, PlanTrials::Import import);

  /// By unit of the model, which of the kinds it is; empty where the model has no units that are alike.
  const std::vector<int64_t> &getKinds(const Plan &plan);
  /// By kind; null where such a model does not compile. Of `plan` counts what a layer on one rank depends on:
  /// tensor and sequence parallelism, rows, types, recomputing.
  const std::vector<UnitTable> *get(const Plan &plan);
  /// What no unit of such a plan takes less than, from one compilation for many plans: with as many rows as
  /// are usual at most, nothing run again, and backward passes whole. `saved` is what is held at least.
  const std::vector<UnitTable> *getLeast(const Plan &plan);

private:
  const std::vector<UnitTable> *getCompiled(const Plan &unit);
  Plan restrictToUnit(const Plan &plan) const;
  std::optional<std::vector<UnitTable>> compile(const Plan &plan);

  const Cluster &cluster;
  PlanTrials::Import import;
  PlanTrials trials;
  std::vector<int64_t> kinds;
  std::map<Plan, std::optional<std::vector<UnitTable>>> tables;
  std::map<std::pair<const void *, int64_t>, std::vector<UnitTable>> least; ///< by table and rows
};

} // namespace mlir::par

#endif // PAR_PLANNER_UNITTABLES_H
