//===- DecomposeKernel.cpp - what a kernel is made of --------------------------------------------------===//
#include "par/Conversion/ScalarEvaluator.h"

using namespace mlir;
using namespace mlir::par;

LogicalResult par::decomposeKernel(Block &block) {
  SmallVector<Operation *> worklist;
  for (Operation &op : block)
    worklist.push_back(&op);
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    auto kernel = dyn_cast<KernelOpInterface>(op);
    bool isComposite = kernel && kernel.getKernelKind() == KernelKind::Composite;
    if (!isComposite && (!kernel || kernel.getKernelKind() != KernelKind::Elementwise))
      continue;
    OpBuilder builder(op);
    Operation *before = op->getPrevNode();
    FailureOr<SmallVector<Value>> parts = kernel.decompose(builder);
    if (failed(parts)) {
      if (isComposite)
        return op->emitOpError("kernel generation: the op cannot be decomposed");
      continue;
    }
    for (Operation *made = before ? before->getNextNode() : &block.front(); made != op;
         made = made->getNextNode())
      worklist.push_back(made);
    op->replaceAllUsesWith(*parts);
    op->erase();
  }
  return success();
}
