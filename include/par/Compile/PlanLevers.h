//===- PlanLevers.h - what a plan can change to need less memory ------------------------------*- C++ -*-===//
// The one list of it: par-compile names the changes with which a plan fits, the search of plans takes the
// next smaller one, and par-plan tells which decisions a plan has only in order to fit.

#ifndef PAR_COMPILE_PLANLEVERS_H
#define PAR_COMPILE_PLANLEVERS_H

#include "par/Plan/Plan.h"
#include <functional>
#include <optional>
#include <vector>

namespace mlir::par {

/// A change of some plan, made on any other one alike.
using PlanChange = std::function<void(Plan &)>;

/// One decision of a plan by which a rank needs less memory, and a step takes longer or more devices.
struct PlanLever {
  llvm::StringRef name; ///< of the field (`PlanField`), or of the axis of the mesh
  /// The steps that are left on a plan, from mild to strong, each instead of the one before.
  std::vector<PlanChange> (*tighten)(const Plan &);
  /// One step back; nothing where the plan has made none. Null: a plan with less is another plan altogether.
  std::optional<Plan> (*loosen)(const Plan &) = nullptr;
  /// Training stays what it is but for the order of sums. Others are named, and never combined
  /// unasked.
  bool keepsTraining = true;
};

/// All levers, in the order of what they cost: collectives that overlap with nothing cost time where links
/// are slow, schedules that hold fewer micro-batches have a bubble, micro-batches cost nothing but launches,
/// ZeRO-1 and sequence parallelism send the same bytes, ZeRO-2 and 3 send more, recomputing computes more,
/// offloading copies state to the host and back, and tensor parallelism and stages take more devices. Types
/// of gradients and moments come last: they cost no time, but digits.
llvm::ArrayRef<PlanLever> getPlanLevers();

/// The lever of a field or axis, which must have one.
const PlanLever &getPlanLever(llvm::StringRef name);

} // namespace mlir::par

#endif // PAR_COMPILE_PLANLEVERS_H
