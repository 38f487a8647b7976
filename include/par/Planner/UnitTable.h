//===- UnitTable.h - what a layer of a model takes --------------------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_UNITTABLE_H
#define PAR_PLANNER_UNITTABLE_H

#include "mlir/IR/BuiltinOps.h"
#include "par/Cost/Cluster.h"
#include "par/Cost/TimeTerms.h"

namespace mlir::par {

/// A parameter on one rank of a tensor-parallel group.
struct VariableTable {
  std::string name;
  double bytes = 0;
  bool isTrained = true;
};

/// What a unit of the model takes of one rank of its tensor-parallel group, beside what ranks of data
/// parallelism store and exchange (StateRows.h).
struct UnitTable {
  TimeTerms forward, backward;             ///< of a micro-batch
  TimeTerms backwardInput, backwardWeight; ///< the same in two parts, of schedules that split it
  TimeTerms update;                        ///< once a step
  std::vector<VariableTable> variables;    ///< that it reads
  /// Bytes that a micro-batch holds: between forward and backward pass; where that is split, from the forward
  /// pass to the second part, and between the parts.
  double saved = 0, savedForWeight = 0, handed = 0;
  double workspace = 0; ///< bytes, of all else at the peak
  double handedOn = 0;  ///< bytes of a micro-batch to the next unit
  /// Bytes of gradients to the unit before, and from the next one, unless they are kept among what is handed.
  double handedBack = 0, received = 0;

  /// What depends on no trained parameter has no backward pass.
  bool hasBackward() const { return backward.sum() + backwardInput.sum() + backwardWeight.sum() > 0; }
};

/// A table for each stage of rank programs whose memory is planned; nothing where they have no training step.
std::optional<std::vector<UnitTable>> tabulateUnits(ModuleOp module, const Cluster &cluster);

} // namespace mlir::par

#endif // PAR_PLANNER_UNITTABLE_H
