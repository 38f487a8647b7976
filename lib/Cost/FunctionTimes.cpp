//===- FunctionTimes.cpp - how long functions run on one rank -------------------------------------------===//
#include "par/Cost/FunctionTimes.h"

using namespace mlir;
using namespace mlir::par;

double FunctionTimes::measure(Operation *op) {
  if (auto call = dyn_cast<CallOp>(op))
    if (auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee()))
      return measure(callee);
  OpCost cost = estimateCost(op);
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
