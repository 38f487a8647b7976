//===- FreeOps.h - ops whose results need no memory -------------------------------------------*- C++ -*-===//
#ifndef PAR_TRANSFORMS_LOWER_FREEOPS_H
#define PAR_TRANSFORMS_LOWER_FREEOPS_H

#include "mlir/IR/Operation.h"

namespace mlir::par {

/// Splat constants, positions, broadcasts and scalar arithmetic: computed again wherever they are used.
bool isFree(Operation *op);

} // namespace mlir::par

#endif // PAR_TRANSFORMS_LOWER_FREEOPS_H
