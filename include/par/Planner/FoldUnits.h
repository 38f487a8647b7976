//===- FoldUnits.h - a model with one layer of each kind --------------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_FOLDUNITS_H
#define PAR_PLANNER_FOLDUNITS_H

#include "mlir/IR/BuiltinOps.h"

#include <vector>

namespace mlir::par {

/// Leaves of calls in `@forward` that pass on one value of one type the first of every callee, and of
/// variables those that are still read. By unit of the model as it was (par-cut-pipeline): which of the units
/// that are left it is like.
std::vector<int64_t> foldUnits(ModuleOp module);

} // namespace mlir::par

#endif // PAR_PLANNER_FOLDUNITS_H
