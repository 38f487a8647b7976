//===- FreeOps.cpp - ops whose results need no memory ---------------------------------------------------===//
#include "FreeOps.h"
#include "par/Dialect/Par/IR/Par.h"

using namespace mlir;
using namespace mlir::par;

bool par::isFree(Operation *op) {
  // A constant that is no splat is data.
  if (op->hasTrait<OpTrait::ConstantLike>())
    return isSplatConstant(op);
  OpClass opClass = getOpClass(op);
  if (opClass == OpClass::Index || opClass == OpClass::Repeats)
    return true;
  return opClass == OpClass::Elementwise && op->getNumResults() == 1 &&
         cast<RankedTensorType>(op->getResult(0).getType()).getRank() == 0;
}
