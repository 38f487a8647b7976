//===- FoldUnits.h - a model with one layer of each kind --------------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_FOLDUNITS_H
#define PAR_PLANNER_FOLDUNITS_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace mlir::par {

/// A variable that several units may read, as one of them reads it.
struct SharedVariable {
  int64_t number;   ///< of the variable, over the whole model
  std::string like; ///< the variable in whose place the unit reads it, of the unit that it is like

  bool operator==(const SharedVariable &other) const { return number == other.number && like == other.like; }
};

/// The units of a model as it was (par/Transforms/Cut/Units.h), by those that are left of it.
struct FoldedUnits {
  std::vector<int64_t> kinds; ///< by unit: which of those that are left it is like
  /// By unit: what it reads at the places where one unit or more of its kind reads what others read, too. All
  /// else that a unit reads is its own.
  std::vector<std::vector<SharedVariable>> shared;
};

/// Leaves of units in `@forward` that pass on a value of one type the first of every kind, and of variables
/// those that are still read. Units are of one kind if they are the same ops, calls of one function most
/// often, with variables of the same types in the same order. They may return more than one value: a layer
/// and the loss of its router.
FoldedUnits foldUnits(ModuleOp module);

} // namespace mlir::par

#endif // PAR_PLANNER_FOLDUNITS_H
