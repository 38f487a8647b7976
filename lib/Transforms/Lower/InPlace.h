//===- InPlace.h - where work may write over what it reads ------------------------------------*- C++ -*-===//
//
// What ops that run as one kernel or library call may do to the memory of their operands: the same for ops of
// a function on tensors and for those in the region of a rank op, so that the lowering and the verification
// of its result cannot differ. `ops` stand in the order of their block.
//
//===----------------------------------------------------------------------------------------------------===//

#ifndef PAR_LIB_TRANSFORMS_LOWER_INPLACE_H
#define PAR_LIB_TRANSFORMS_LOWER_INPLACE_H

#include "par/Dialect/Par/IR/Par.h"

namespace mlir::par {

/// All that the ops read of `in` they have read when they write `out`, their result, to the same place. Uses
/// of `in` elsewhere are the caller's matter. What two tensors of a list have to do with each other is left
/// open: a target may compute them in any order.
bool mayShare(ArrayRef<Operation *> ops, Value in, Value out);
/// What the matrix products that `out` is the sum of are added to; null for other work.
Value findSum(ArrayRef<Operation *> ops, Value out);
bool isProductSum(ArrayRef<Operation *> ops);

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_LOWER_INPLACE_H
