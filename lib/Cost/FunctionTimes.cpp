//===- FunctionTimes.cpp - how long functions run on one rank -------------------------------------------===//
#include "par/Cost/FunctionTimes.h"
#include "par/Dialect/Par/IR/Places.h"

using namespace mlir;
using namespace mlir::par;

void FunctionTimes::leaveOutLossSums(func::FuncOp forward) {
  for (auto [number, value] : llvm::enumerate(forward.front().getTerminator()->getOperands()))
    if (isLoss(forward, number))
      leaveOutSums(value);
}

/// Where the value is made, in whatever layer.
void FunctionTimes::leaveOutSums(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return;
  oncePerStep.insert(op);
  if (auto call = dyn_cast<CallOp>(op))
    if (auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee()))
      leaveOutSums(callee.front().getTerminator()->getOperand(cast<OpResult>(value).getResultNumber()));
}

double FunctionTimes::measure(Operation *op) {
  if (auto call = dyn_cast<CallOp>(op))
    if (auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee()))
      return measure(callee);
  OpCost cost = estimateCost(op, rates);
  if (oncePerStep.contains(op))
    cost.summed = 0;
  for (Region &region : op->getRegions())
    region.walk([&](CostOpInterface inner) { cost.flops += inner.getFlops(); });
  return getSeconds(cost, rates);
}

double FunctionTimes::measure(func::FuncOp function) {
  auto [found, isNew] = known.try_emplace(function, 0);
  if (!isNew)
    return found->second;
  double seconds = 0;
  for (Operation &op : function.front().without_terminator())
    seconds += measure(&op);
  return known[function] = seconds;
}
