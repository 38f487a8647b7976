//===- RelatedOps.cpp - ops of a kernel that have to do with each other ---------------------------------===//
#include "par/Dialect/Par/IR/RelatedOps.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::par;

OpSet par::findRelatedOps(const OpSet &ops, Operation *begin) {
  OpSet related;
  SmallVector<Operation *> work{begin};
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (!op || !ops.contains(op) || !related.insert(op).second)
      continue;
    llvm::append_range(work, op->getUsers());
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      bool isConstant = producer && producer->getNumOperands() == 0;
      if (isConstant)
        continue;
      work.push_back(producer);
      if (cast<RankedTensorType>(operand.getType()).getRank() > 0)
        llvm::append_range(work, operand.getUsers());
    }
  }
  return related;
}
