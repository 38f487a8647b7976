//===- SavePlan.cpp - where a backward function finds the values of the forward pass --------------------===//
#include "SavePlan.h"

using namespace mlir;
using namespace mlir::par;

/// True for values of the forward part: its arguments and its ops' results.
static bool isForward(JointFunction &joint, Value value) {
  Operation *op = value.getDefiningOp();
  return op ? joint.forwardOps.contains(op) : joint.isOriginalArgument(value);
}

llvm::SetVector<Value> par::collectUsedByBackward(JointFunction &joint) {
  llvm::SetVector<Value> used;
  for (Operation *op : joint.getBackwardOps())
    for (Value operand : op->getOperands())
      if (isForward(joint, operand))
        used.insert(operand);
  for (auto &[slot, value] : joint.outputs)
    if (isForward(joint, value))
      used.insert(value);
  return used;
}

/// From what the backward ops use upwards to what is saved.
llvm::SetVector<Operation *> par::collectRunAgain(JointFunction &joint, const DenseSet<Value> &saved) {
  SmallVector<Value> wanted = collectUsedByBackward(joint).takeVector();
  llvm::SetVector<Operation *> again;
  while (!wanted.empty()) {
    Value value = wanted.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (op && !saved.contains(value) && again.insert(op))
      wanted.append(op->operand_begin(), op->operand_end());
  }
  return again;
}

DenseSet<Value> par::readMarks(JointFunction &joint) {
  DenseSet<Value> saved = joint.calleeResiduals;
  func::FuncOp function = joint.info.function;
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    if (function.getArgAttr(index, ParDialect::kSaveAttr))
      saved.insert(joint.getBody().getArgument(index));
  for (Operation *op : joint.forwardOps)
    if (auto numbers = op->getAttrOfType<DenseI64ArrayAttr>(ParDialect::kSaveAttr))
      for (int64_t number : numbers.asArrayRef())
        if (number >= 0 && number < op->getNumResults())
          saved.insert(op->getResult(number));
  return saved;
}

FailureOr<SavePlan> SavePlan::create(JointFunction &joint, const DenseSet<Value> &saved) {
  SavePlan plan(joint);
  for (Value value : collectUsedByBackward(joint))
    if (failed(plan.require(value, saved)))
      return failure();
  plan.assignSlots();
  return plan;
}

/// Follows ops that may be recomputed upwards from a needed value to values that are saved or free.
LogicalResult SavePlan::require(Value root, const DenseSet<Value> &saved) {
  SmallVector<Value> worklist = {root};
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!visited.insert(value).second)
      continue;
    if (saved.contains(value)) {
      needed.insert(value);
      continue;
    }
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && joint->info.free[argument.getArgNumber()])
      continue;
    Operation *op = value.getDefiningOp();
    if (op && mayRecompute(op)) {
      worklist.append(op->operand_begin(), op->operand_end());
      continue;
    }
    StringRef name = joint->info.function.getName();
    const char *remedy = "is needed by the backward pass but neither marked par.save nor recomputed; "
                         "run par-select-residuals "
                         "on this graph";
    InFlightDiagnostic error = op ? op->emitOpError("result ") << cast<OpResult>(value).getResultNumber()
                                                               << " in @" << name << " " << remedy
                                  : joint->info.function->emitError("@")
                                        << name << ": argument " << argument.getArgNumber() << " " << remedy;
    if (Operation *reader = root.getDefiningOp(); reader && reader != op)
      error.attachNote(reader->getLoc()) << "it is needed for this, which the backward pass computes again";
    return error;
  }
  return success();
}

/// Residuals are numbered in the order of the forward function: arguments, then ops.
void SavePlan::assignSlots() {
  const FunctionInfo &info = joint->info;
  auto addResidual = [&](Value value) {
    slots.try_emplace(value, Slot{Slot::Residual, static_cast<unsigned>(residuals.size())});
    residuals.push_back(value);
  };
  for (unsigned index = 0; index < info.varied.size(); ++index) {
    Value argument = joint->getBody().getArgument(index);
    // The caller of a layer keeps what it passes; a chunk must return what it was sent.
    if (info.free[index] || (needed.contains(argument) && !info.isChunk))
      slots.try_emplace(argument, Slot{Slot::Argument, index});
    else if (needed.contains(argument))
      addResidual(argument);
  }
  if (!info.isChunk)
    for (auto [index, value] : llvm::enumerate(joint->getResults()))
      if (needed.contains(value) && value.getDefiningOp())
        slots.try_emplace(value, Slot{Slot::Result, static_cast<unsigned>(index)});
  for (Operation *op : joint->forwardOps)
    for (Value result : op->getResults())
      if (needed.contains(result) && !slots.contains(result))
        addResidual(result);
}

std::optional<Slot> SavePlan::find(Value value) const {
  if (auto added = joint->addedArguments.find(value); added != joint->addedArguments.end())
    return added->second;
  auto slot = slots.find(value);
  return slot == slots.end() ? std::nullopt : std::optional(slot->second);
}

bool SavePlan::isFree(Value root) const {
  SmallVector<Value> worklist = {root};
  DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (!joint->isOriginalArgument(value) || !joint->info.free[argument.getArgNumber()])
        return false;
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (!joint->forwardOps.contains(op) || !isCheapToRecompute(op))
      return false;
    worklist.append(op->operand_begin(), op->operand_end());
  }
  return true;
}
