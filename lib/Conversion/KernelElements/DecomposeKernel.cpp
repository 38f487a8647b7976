//===- DecomposeKernel.cpp - what a kernel is made of --------------------------------------------------===//
#include "mlir/Interfaces/SideEffectInterfaces.h"
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
  // Of an op some of whose results nobody wants: a plan would have room and loops for their parts.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
  return success();
}
