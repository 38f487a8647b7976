//===- SavePlan.h - where a backward function finds the values of the forward pass ------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_DIFFERENTIATE_SAVEPLAN_H
#define PAR_LIB_TRANSFORMS_DIFFERENTIATE_SAVEPLAN_H

#include "JointFunction.h"
#include <optional>

namespace mlir::par {

/// Forward values that backward ops use, in the order in which they are met.
llvm::SetVector<Value> collectUsedByBackward(JointFunction &joint);

/// What running an op again costs, in bytes that might be held instead; none: it must not run again.
using RecomputeCost = std::function<std::optional<double>(Operation *)>;

/// The values to save: a minimum cut between what may not be recomputed and what the backward ops use, of
/// bytes held and ops run again (see par-select-residuals). Marks the forward ops that will be recomputed
/// although they are not cheap.
DenseSet<Value> chooseMinimumCut(JointFunction &joint, const RecomputeCost &cost);

/// The forward ops that run again in the backward pass if `saved` are held.
llvm::SetVector<Operation *> collectRunAgain(JointFunction &joint, const DenseSet<Value> &saved);

/// The values that `par-select-residuals` marked, and all residuals of callees.
DenseSet<Value> readMarks(JointFunction &joint);

/// How the backward functions get at forward values.
class SavePlan {
public:
  /// Fails with a diagnostic if a needed value is neither in `saved` nor free nor cheap or marked to be
  /// recomputed from such.
  static FailureOr<SavePlan> create(JointFunction &joint, const DenseSet<Value> &saved);

  /// How a value comes into a backward function; none if it is recomputed or computed there.
  std::optional<Slot> find(Value value) const;
  /// What the forward function returns beside its results.
  ArrayRef<Value> getResiduals() const { return residuals; }
  /// True if the value follows from arguments that cost nothing, so any function may compute it again.
  bool isFree(Value value) const;

private:
  explicit SavePlan(JointFunction &joint) : joint(&joint) {}
  LogicalResult require(Value value, const DenseSet<Value> &saved);
  void assignSlots();

  JointFunction *joint;
  DenseSet<Value> visited;
  DenseSet<Value> needed; ///< saved and needed
  DenseMap<Value, Slot> slots;
  SmallVector<Value> residuals;
};

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_DIFFERENTIATE_SAVEPLAN_H
