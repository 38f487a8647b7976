//===- SumOfDots.h - sums of products of whole tensors ----------------------------------------*- C++ -*-===//
#ifndef PAR_DIALECT_PAR_IR_SUMOFDOTS_H
#define PAR_DIALECT_PAR_IR_SUMOFDOTS_H

#include "par/Dialect/Par/IR/Par.h"

namespace mlir::par {

/// The product of two tensors of one shape, added up: `"ab,ab->"`.
bool isDot(EinsumOp op);

/// The dots that a scalar is the sum of, which nothing else uses, from left to right: none if anything else
/// is added. One dot alone is no sum.
SmallVector<EinsumOp> findDots(Value sum);

} // namespace mlir::par

#endif // PAR_DIALECT_PAR_IR_SUMOFDOTS_H
