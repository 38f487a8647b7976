//===- Buckets.h - which collectives one call may do together ---------------------------------*- C++ -*-===//
#ifndef PAR_DIALECT_PAR_IR_BUCKETS_H
#define PAR_DIALECT_PAR_IR_BUCKETS_H

#include "par/Dialect/Par/IR/Par.h"

namespace mlir::par {

/// One op and equal properties (axes, dimension, kind of sum), whatever the operands.
bool areAlike(Operation *op, Operation *other);

/// Alike, on tensors of one element type: a call on the tensors of both does what two calls do.
bool mayShareBucket(Operation *collective, Operation *other);

} // namespace mlir::par

#endif // PAR_DIALECT_PAR_IR_BUCKETS_H
