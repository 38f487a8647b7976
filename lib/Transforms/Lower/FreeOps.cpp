//===- FreeOps.cpp - ops whose results need no memory ---------------------------------------------------===//
#include "FreeOps.h"
#include "par/Dialect/Par/IR/Par.h"

using namespace mlir;
using namespace mlir::par;

bool par::isFree(Operation *op) {
  if (isa<arith::ConstantOp>(op)) {
    // A dense constant is data: only splats are recomputed.
    auto value = dyn_cast<DenseElementsAttr>(cast<arith::ConstantOp>(op).getValue());
    return value && value.isSplat();
  }
  if (isa<IotaOp, AxisIndexOp, ExpandOp>(op))
    return true;
  if (op->getNumResults() != 1 || cast<RankedTensorType>(op->getResult(0).getType()).getRank() != 0)
    return false;
  auto kernel = dyn_cast<KernelOpInterface>(op);
  return kernel && kernel.getKernelKind() == KernelKind::Elementwise;
}
