//===- Units.h - the parts of a forward function between which it may be cut ------------------*- C++ -*-===//
#ifndef PAR_TRANSFORMS_CUT_UNITS_H
#define PAR_TRANSFORMS_CUT_UNITS_H

#include "par/Dialect/Par/IR/Places.h"
#include "par/Transforms/Cut/UnitCosts.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::par {

/// Values that follow from inputs and variables by cheap ops alone: every chunk can compute them again.
DenseSet<Value> collectReproducible(func::FuncOp function);

/// The units of a function in their order; every op that is not reproducible belongs to one.
class Units {
public:
  Units(func::FuncOp function, const DenseSet<Value> &reproducible);

  size_t size() const { return units.size(); }
  /// The ops of a unit in their order, the one that it is named after first where there was none before it.
  ArrayRef<Operation *> operator[](size_t unit) const { return units[unit]; }
  /// The call, or op, that makes it a unit.
  Operation *getAnchor(size_t unit) const { return anchors[unit]; }

private:
  SmallVector<SmallVector<Operation *>> units;
  SmallVector<Operation *> anchors;
};

/// Of units of `forward`.
std::vector<UnitCost> measureUnits(ModuleOp module, func::FuncOp forward, const Units &units);

} // namespace mlir::par

#endif // PAR_TRANSFORMS_CUT_UNITS_H
