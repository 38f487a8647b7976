//===- Buckets.cpp - which collectives one call may do together -----------------------------------------===//
#include "par/Dialect/Par/IR/Buckets.h"

using namespace mlir;
using namespace mlir::par;

bool par::areAlike(Operation *op, Operation *other) {
  return op->getName() == other->getName() &&
         op->getName().compareOpProperties(op->getPropertiesStorage(), other->getPropertiesStorage());
}

static Type getElementType(Operation *collective) {
  return cast<RankedTensorType>(collective->getOperand(0).getType()).getElementType();
}

bool par::mayShareBucket(Operation *collective, Operation *other) {
  return areAlike(collective, other) && getElementType(collective) == getElementType(other);
}
