//===- KernelLoops.cpp - loops of a kernel: a thread's share, what is computed outside ------------------===//
#include "KernelLoops.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::par;

std::pair<Value, Value> KernelLoops::share(int64_t size) {
  mostParts = std::max(mostParts, size);
  Value whole = evaluator.constantIndex(size), one = evaluator.constantIndex(1);
  auto bound = [&](Value number) {
    Value scaled = evaluator.create<arith::MulIOp>(whole, number);
    return evaluator.create<arith::DivUIOp>(scaled, parts);
  };
  Value next = evaluator.create<arith::AddIOp>(part, one);
  Value begin = bound(part);
  return {begin, bound(next)};
}

LogicalResult KernelLoops::shareLoop(int64_t size, function_ref<LogicalResult(Value)> body) {
  if (!sharing.isStrided) {
    auto [begin, end] = share(size);
    return loop(begin, end, body);
  }
  mostParts = std::max(mostParts, size);
  return loop(part, evaluator.constantIndex(size), body, parts);
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

LogicalResult KernelLoops::loop(int64_t size, function_ref<LogicalResult(Value)> body) {
  if (size == 1)
    return body(evaluator.constantIndex(0));
  return loop(evaluator.constantIndex(0), evaluator.constantIndex(size), body);
}

LogicalResult KernelLoops::loop(Value begin, Value end, function_ref<LogicalResult(Value)> body,
                                int64_t step) {
  return loop(begin, end, body, evaluator.constantIndex(step));
}

LogicalResult KernelLoops::loop(Value begin, Value end, function_ref<LogicalResult(Value)> body, Value step) {
  auto loop = evaluator.builder.create<scf::ForOp>(evaluator.loc, begin, end, step);
  OpBuilder::InsertionGuard guard(evaluator.builder);
  evaluator.builder.setInsertionPointToStart(loop.getBody());
  evaluator.push();
  LogicalResult result = body(loop.getInductionVar());
  evaluator.pop();
  return result;
}

Value KernelLoops::fold(Value begin, Value end, int64_t step, Value start,
                        function_ref<Value(Value, Value)> body) {
  auto loop =
      evaluator.builder.create<scf::ForOp>(evaluator.loc, begin, end, evaluator.constantIndex(step), start);
  OpBuilder::InsertionGuard guard(evaluator.builder);
  evaluator.builder.setInsertionPointToStart(loop.getBody());
  evaluator.push();
  evaluator.builder.create<scf::YieldOp>(evaluator.loc,
                                         body(loop.getInductionVar(), loop.getRegionIterArgs()[0]));
  evaluator.pop();
  return loop.getResult(0);
}

Value KernelLoops::addBlocks(int64_t size, Type type, Value start, function_ref<Value(Value, Value)> term) {
  auto addBlock = [&](Value begin, Value end, Value carried) {
    Value sum = fold(begin, end, 1, evaluator.neutral(ReduceKind::Sum, type), term);
    return evaluator.combine(ReduceKind::Sum, carried, evaluator.round(sum, start.getType()));
  };
  Value whole = evaluator.constantIndex(size);
  if (size <= kBlock)
    return addBlock(evaluator.constantIndex(0), whole, start);
  return fold(evaluator.constantIndex(0), whole, kBlock, start, [&](Value first, Value carried) {
    Value end = evaluator.addIndex(first, kBlock);
    if (size % kBlock)
      end = evaluator.create<arith::MinUIOp>(end, whole);
    return addBlock(first, end, carried);
  });
}

FailureOr<Value> KernelLoops::reduce(ArrayRef<int64_t> sizes, Type type, ReduceKind kind,
                                     function_ref<FailureOr<Value>(ArrayRef<Value>)> value) {
  Index index;
  bool failure = false;
  bool inBlocks = kind == ReduceKind::Sum && type.isF32() && ShapedType::getNumElements(sizes) > kShort;
  std::function<Value(size_t, Value)> nest = [&](size_t dim, Value start) -> Value {
    if (dim == sizes.size()) {
      FailureOr<Value> element = value(index);
      failure |= failed(element);
      return failed(element) ? start : evaluator.combine(kind, start, *element);
    }
    auto inside = [&](Value variable, Value carried) {
      index.push_back(variable);
      Value result = nest(dim + 1, carried);
      index.pop_back();
      return result;
    };
    if (inBlocks && dim + 1 == sizes.size())
      return addBlocks(sizes[dim], type, start, inside);
    return fold(evaluator.constantIndex(0), evaluator.constantIndex(sizes[dim]), 1, start, inside);
  };
  Value result = nest(0, evaluator.neutral(kind, inBlocks ? evaluator.builder.getF64Type() : type));
  if (failure)
    return mlir::failure();
  return evaluator.round(result, type);
}
