//===- RelatedOps.h - ops of a kernel that have to do with each other -------------------------*- C++ -*-===//
#ifndef PAR_DIALECT_PAR_IR_RELATEDOPS_H
#define PAR_DIALECT_PAR_IR_RELATEDOPS_H

#include "mlir/IR/Operation.h"

namespace mlir::par {

using OpSet = llvm::SmallPtrSet<Operation *, 8>;

/// Those of `ops` that use each other's results or read the same tensor, directly or not, `begin` among them:
/// of a kernel over a list of tensors the ops of one of them. Scalars and constants relate nothing.
OpSet findRelatedOps(const OpSet &ops, Operation *begin);

} // namespace mlir::par

#endif // PAR_DIALECT_PAR_IR_RELATEDOPS_H
