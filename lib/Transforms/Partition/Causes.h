//===- Causes.h - why a collective exists -----------------------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_PARTITION_CAUSES_H
#define PAR_LIB_TRANSFORMS_PARTITION_CAUSES_H

#include "par/Dialect/Par/IR/Par.h"

namespace mlir::par {

/// "einsum "bsm,em->bse" sums over tp <- annotation of @h.mlp.c_proj.weight".
std::string describePartialSum(Value value, ArrayRef<StringAttr> axes);
/// "cross_entropy has operands split over tp <- …": of collectives that an op's own way to be partitioned
/// needs.
std::string describeLocal(Operation *op);
/// "operand 1 of rms_norm needs {} instead of {tp} in dimension 2 <- annotation of …".
std::string describeOperand(Operation *user, unsigned operand, ShardingAttr from, ShardingAttr to);
/// "result 0 of einsum … is wanted as <…>".
std::string describeResult(OpResult result, ShardingAttr to);

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_PARTITION_CAUSES_H
