//===- HoistPlan.cpp - what a loop nest can compute outside its innermost loop --------------------------===//
#include "HoistPlan.h"

using namespace mlir;
using namespace mlir::par;

/// Parts first, so that a reduction inside another one is ready before it.
void HoistPlan::collect(Value value, Symbols symbols) {
  if (!visited.insert({value.getAsOpaquePointer(), symbols}).second)
    return;
  Operation *op = value.getDefiningOp();
  if (op)
    collectOperands(op, symbols);
  int64_t depth = 0;
  for (int64_t symbol : symbols)
    depth = std::max(depth, symbol + 1);
  // A coordinate is read from memory.
  auto kernel = dyn_cast_or_null<KernelOpInterface>(op);
  bool isConstant = op && (op->hasTrait<OpTrait::ConstantLike>() ||
                           (kernel && kernel.getOpClass() == OpClass::Index && !kernel.usesCoordinates()));
  if (depth + 1 < static_cast<int64_t>(byDepth.size()) && !isConstant)
    byDepth[depth].push_back({value, symbols});
}

void HoistPlan::collectOperands(Operation *op, const Symbols &symbols) {
  if (auto expand = dyn_cast<ExpandOp>(op))
    return collect(expand.getInput(), dropDims<int64_t>(symbols, expand.getDims()));
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return collect(transpose.getInput(), turnBack<int64_t>(symbols, transpose.getPermutation()));
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    Symbols source;
    size_t kept = 0;
    for (int64_t dim = 0, rank = getShape(reduce.getInput()).size(); dim < rank; ++dim)
      source.push_back(llvm::is_contained(reduce.getDims(), dim) ? kInner : symbols[kept++]);
    return collect(reduce.getInput(), source);
  }
  if (!isElementwise(op))
    return;
  for (Value operand : op->getOperands())
    collect(operand, getShape(operand).empty() ? Symbols() : symbols);
}
