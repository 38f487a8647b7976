//===- WideStep.cpp - elements that are computed by whole accesses to memory ----------------------------===//
#include "WideStep.h"
#include "par/Conversion/Scalars.h"
#include "par/Dialect/Rank/IR/Rank.h"

using namespace mlir;
using namespace mlir::par;

/// Coordinates are no part of it: they are read from elsewhere.
bool par::readsInPlace(Operation &op) {
  if (op.hasTrait<OpTrait::IsTerminator>())
    return true;
  auto kernel = dyn_cast<KernelOpInterface>(op);
  switch (getOpClass(&op)) {
  case OpClass::Elementwise:
  case OpClass::Placed:
  case OpClass::Index:
  case OpClass::Repeats:
    return !kernel.usesCoordinates();
  default:
    return false;
  }
}

/// True if `step` elements side by side, the first of which has a number that `step` divides, are made of
/// such.
static bool keepsSteps(Operation &op, int64_t step) {
  auto kernel = dyn_cast<KernelOpInterface>(op);
  return kernel ? kernel.keepsSteps(step) : op.hasTrait<OpTrait::IsTerminator>();
}

int64_t par::findWideStep(Block &block, int64_t size, int64_t bytes) {
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
  auto fits = [&] {
    return size % step == 0 && llvm::all_of(block, [&](Operation &op) { return keepsSteps(op, step); });
  };
  while (step > 1 && !fits())
    step /= 2;
  return step;
}
