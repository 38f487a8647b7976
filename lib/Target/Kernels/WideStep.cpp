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

/// True if `step` elements side by side, the first of which has a number that `step` divides, are made of
/// such.
static bool keepsSteps(Operation &op, int64_t step) {
  auto isWhole = [&](Value value) { return getShape(value).empty() || getShape(value).back() % step == 0; };
  if (auto slice = dyn_cast<SliceOp>(op))
    return slice.getOffsets().back() % step == 0 && isWhole(slice.getInput());
  if (auto pad = dyn_cast<PadOp>(op))
    return pad.getOffsets().back() % step == 0 && isWhole(pad.getInput());
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return transpose.getPermutation().back() == static_cast<int64_t>(transpose.getPermutation().size()) - 1;
  if (isa<ConcatOp, ReshapeOp, AllSliceOp>(op))
    return llvm::all_of(op.getOperands(), isWhole) && isWhole(op.getResult(0));
  return isa<EmbeddingOp, AxisIndexOp>(op) || readsInPlace(op);
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
