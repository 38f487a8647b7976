//===- NormOps.h - what the derivatives of norms share ----------------------------------------*- C++ -*-===//
#ifndef PAR_DIALECT_PAR_IR_NORMOPS_H
#define PAR_DIALECT_PAR_IR_NORMOPS_H

#include "par/Dialect/Par/IR/Par.h"

namespace mlir::par {

/// Statistics are saved for the backward op and have no cotangent of their own.
LogicalResult refuseStatisticCotangents(Operation *op, ValueRange cotangents);

/// Keeps of `values` what is needed.
void setNeeded(ValueRange values, ArrayRef<bool> needed, SmallVectorImpl<Value> &operandCotangents);

} // namespace mlir::par

#endif // PAR_DIALECT_PAR_IR_NORMOPS_H
