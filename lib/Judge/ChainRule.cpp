//===- ChainRule.cpp - derivatives as numbers -----------------------------------------------------------===//
#include "ChainRule.h"

using namespace mlir;
using namespace mlir::par;

static bool isFloat(Value value) { return isa<FloatType>(getElementTypeOrSelf(value)); }

std::unique_ptr<ChainRule::Frame> ChainRule::run(func::FuncOp function, ArrayRef<Number> arguments,
                                                 ArrayRef<bool> varied) {
  auto frame = std::make_unique<Frame>();
  frame->function = function;
  for (auto [argument, number, isVaried] : llvm::zip(function.getArguments(), arguments, varied)) {
    frame->values[argument] = number;
    if (isVaried)
      frame->varied.insert(argument);
  }
  for (Operation &op : function.getBody().front()) {
    SmallVector<Number> operands;
    SmallVector<bool> areVaried;
    for (Value operand : op.getOperands()) {
      operands.push_back(frame->values.lookup(operand));
      areVaried.push_back(frame->varied.contains(operand));
    }
    if (isa<func::ReturnOp>(op)) {
      frame->results = operands;
      return frame;
    }
    SmallVector<Number> results;
    if (auto call = dyn_cast<CallOp>(op)) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      std::unique_ptr<Frame> inner =
          callee && call.getParts() == 1 ? run(callee, operands, areVaried) : nullptr;
      if (!inner)
        return nullptr;
      results = inner->results;
      frame->calls[&op] = std::move(inner);
    } else {
      results = numbers.get(&op, operands);
    }
    for (auto [value, number] : llvm::zip(op.getResults(), results)) {
      frame->values[value] = number;
      if (isFloat(value) && llvm::is_contained(areVaried, true))
        frame->varied.insert(value);
    }
  }
  return nullptr;
}

FailureOr<ChainRule::Derivative *> ChainRule::build(Operation *op, ArrayRef<bool> flowing,
                                                    ArrayRef<bool> needed) {
  std::unique_ptr<Derivative> &known = derivatives[{op, flowing.vec(), needed.vec()}];
  if (known)
    return known.get();
  known = std::make_unique<Derivative>();
  SmallVector<Value> cotangents;
  for (auto [result, flows] : llvm::zip(op->getResults(), flowing))
    cotangents.push_back(flows ? known->block.addArgument(result.getType(), op->getLoc()) : Value());
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(&known->block);
  known->ofOperands.resize(op->getNumOperands());
  auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
  if (!differentiable || failed(differentiable.differentiate(builder, cotangents, needed, known->ofOperands)))
    return op->emitError("par-prove: ") << op->getName() << " has no derivative";
  return known.get();
}

FailureOr<ChainRule::Cotangents> ChainRule::derive(Frame &frame, Operation *op, const Cotangents &results) {
  SmallVector<bool> flowing, needed;
  for (const std::optional<Number> &result : results)
    flowing.push_back(result.has_value());
  for (Value operand : op->getOperands())
    needed.push_back(frame.varied.contains(operand) && isFloat(operand));
  Cotangents operands(op->getNumOperands());
  if (!llvm::is_contained(flowing, true) || !llvm::is_contained(needed, true))
    return operands;
  FailureOr<Derivative *> derivative = build(op, flowing, needed);
  if (failed(derivative))
    return failure();
  llvm::DenseMap<Value, Number> made;
  unsigned argument = 0;
  for (const std::optional<Number> &result : results)
    if (result)
      made[(*derivative)->block.getArgument(argument++)] = *result;
  auto find = [&](Value value) {
    auto at = made.find(value);
    return at != made.end() ? at->second : frame.values.lookup(value);
  };
  for (Operation &part : (*derivative)->block) {
    SmallVector<Number> read = llvm::map_to_vector(part.getOperands(), find);
    SmallVector<Number> written = numbers.get(&part, read);
    for (auto [value, number] : llvm::zip(part.getResults(), written))
      made[value] = number;
  }
  for (auto [operand, value] : llvm::zip(operands, (*derivative)->ofOperands))
    if (value)
      operand = find(value);
  return operands;
}

FailureOr<ChainRule::Cotangents> ChainRule::pullBack(Frame &frame, const Cotangents &results) {
  llvm::DenseMap<Value, Number> sums;
  auto add = [&](Value value, const std::optional<Number> &cotangent) {
    if (cotangent && frame.varied.contains(value))
      sums[value] = sums.lookup(value) + *cotangent;
  };
  auto find = [&](Value value) -> std::optional<Number> {
    auto at = sums.find(value);
    return at == sums.end() ? std::nullopt : std::optional(at->second);
  };
  Block &body = frame.function.getBody().front();
  for (auto [value, cotangent] : llvm::zip(body.getTerminator()->getOperands(), results))
    add(value, cotangent);
  for (Operation &op : llvm::drop_begin(llvm::reverse(body))) {
    Cotangents flowing(llvm::map_range(op.getResults(), find));
    auto call = frame.calls.find(&op);
    FailureOr<Cotangents> operands =
        call == frame.calls.end() ? derive(frame, &op, flowing) : pullBack(*call->second, flowing);
    if (failed(operands))
      return failure();
    for (auto [value, cotangent] : llvm::zip(op.getOperands(), *operands))
      add(value, cotangent);
  }
  return Cotangents(llvm::map_range(body.getArguments(), find));
}
