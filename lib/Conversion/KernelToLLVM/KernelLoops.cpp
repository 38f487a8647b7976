//===- KernelLoops.cpp - loops of a kernel: a thread's share, what is computed outside ------------------===//
#include "KernelLoops.h"

using namespace mlir;
using namespace mlir::par;

std::pair<Value, Value> KernelLoops::share(int64_t size) {
  OpBuilder &builder = evaluator.builder;
  Value whole = evaluator.constantIndex(size), one = evaluator.constantIndex(1);
  auto bound = [&](Value number) {
    Value scaled = builder.create<arith::MulIOp>(evaluator.loc, whole, number);
    return builder.create<arith::DivUIOp>(evaluator.loc, scaled, parts).getResult();
  };
  Value next = builder.create<arith::AddIOp>(evaluator.loc, part, one);
  Value begin = bound(part);
  return {begin, bound(next)};
}

LogicalResult KernelLoops::shareLoop(int64_t size, function_ref<LogicalResult(Value)> body) {
  auto [begin, end] = share(size);
  return evaluator.loop(begin, end, body);
}

LogicalResult KernelLoops::hoist(size_t loops, const HoistPlan &plan, ArrayRef<Value> indices) {
  if (indices.size() == loops)
    return success();
  for (auto &[value, symbols] : plan.get(indices.size())) {
    Index index;
    for (int64_t symbol : symbols)
      index.push_back(indices[symbol]);
    if (failed(evaluator.evaluate(value, index)))
      return failure();
  }
  return success();
}
