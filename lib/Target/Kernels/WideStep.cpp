//===- WideStep.cpp - elements that are computed by whole accesses to memory ----------------------------===//
#include "WideStep.h"
#include "par/Conversion/Scalars.h"
#include "par/Dialect/Rank/IR/Rank.h"

using namespace mlir;
using namespace mlir::par;

bool par::readsInPlace(Operation &op) {
  auto kernel = dyn_cast<KernelOpInterface>(op);
  return isa<rank::YieldOp, arith::ConstantOp, ExpandOp, IotaOp, DropoutOp>(op) ||
         (kernel && kernel.getKernelKind() == KernelKind::Elementwise);
}

int64_t par::findWideStep(Block &block, int64_t size, int64_t bytes) {
  if (!llvm::all_of(block, readsInPlace))
    return 1;
  int64_t narrowest = bytes;
  auto look = [&](Value tensor) {
    if (!getShape(tensor).empty())
      narrowest =
          std::min(narrowest, rank::getBytes(RankedTensorType::get({}, getElementTypeOrSelf(tensor))));
  };
  for (BlockArgument argument : block.getArguments())
    look(argument);
  for (Value output : cast<rank::YieldOp>(block.getTerminator()).getValues())
    look(output);
  int64_t step = narrowest ? bytes / narrowest : 1;
  while (size % step)
    step /= 2;
  return step;
}
