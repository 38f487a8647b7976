//===- PickedTerm.h - sums of which one term counts ------------------------------------------*- C++ -*-===//
#ifndef PAR_DIALECT_PAR_IR_PICKEDTERM_H
#define PAR_DIALECT_PAR_IR_PICKEDTERM_H

#include "par/Dialect/Par/IR/Par.h"

namespace mlir::par {

/// Σ over i of (i + offset == wanted ? term : 0), where neither `wanted` nor `offset` depends on i: at most
/// one term counts, the others are 0. So a loss picks the logit of its target.
struct PickedTerm {
  Value wanted; ///< of the input's shape
  Value offset; ///< of the input's shape; null: 0
};

std::optional<PickedTerm> matchPickedTerm(ReduceOp op);
/// The element at `index` of such a sum.
FailureOr<Value> emitPickedTerm(ReduceOp op, const PickedTerm &picked, ElementBuilder &builder,
                                ArrayRef<Value> index);

} // namespace mlir::par

#endif // PAR_DIALECT_PAR_IR_PICKEDTERM_H
