//===- UnitCosts.h - what the units of a pipeline's cuts take ---------------------------------*- C++ -*-===//
#ifndef PAR_TRANSFORMS_CUT_UNITCOSTS_H
#define PAR_TRANSFORMS_CUT_UNITCOSTS_H

#include "mlir/IR/BuiltinOps.h"

#include <vector>

namespace mlir::par {

/// Of a micro-batch, on one rank.
struct UnitCost {
  double seconds = 0;         ///< modelled, forward and back
  int64_t parameterBytes = 0; ///< of variables that it reads
  int64_t savedBytes = 0; ///< of what it computes by ops that are not cheap: no less is saved, nor much more
};

/// Of the units of the forward function of a module that is not cut yet; fails without one.
FailureOr<std::vector<UnitCost>> measureUnits(ModuleOp module);

} // namespace mlir::par

#endif // PAR_TRANSFORMS_CUT_UNITCOSTS_H
