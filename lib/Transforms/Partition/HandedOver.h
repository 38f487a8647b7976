//===- HandedOver.h - what chunk functions hand to each other ---------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_PARTITION_HANDEDOVER_H
#define PAR_LIB_TRANSFORMS_PARTITION_HANDEDOVER_H

#include "par/Dialect/Par/IR/Par.h"

namespace mlir::par {

/// Calls `visit` for every argument of a chunk function that takes what another one hands over, and what that
/// one returns.
void forEachHandedOver(ModuleOp module, llvm::function_ref<void(BlockArgument taken, Value made)> visit);

/// What one chunk function hands to another, in a residual or over a cut, gets one sharding: that of the
/// function that makes it. What takes it is resharded from there.
void matchHandedOver(ModuleOp module);

/// An error where the two ends have different types or shardings, with a note at the other end.
LogicalResult verifyHandedOver(ModuleOp module);

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_PARTITION_HANDEDOVER_H
