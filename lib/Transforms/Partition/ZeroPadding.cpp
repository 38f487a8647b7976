//===- ZeroPadding.cpp - which padding is known to be zero ----------------------------------------------===//
#include "ZeroPadding.h"
#include "HandedOver.h"
#include "par/Dialect/Par/IR/Places.h"

using namespace mlir;
using namespace mlir::par;

bool ZeroPadding::markUnknown(Value value, unsigned dim) {
  return isPadded(value, dim) && unknown.insert({value, dim}).second;
}

/// Inputs hold whatever the runtime padded them with; variables are zero by the invariant, and what a
/// function takes of another one is what that has made.
void ZeroPadding::seedArguments() {
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isPrivate())
      continue;
    for (BlockArgument argument : function.getArguments())
      if (!getVariable(argument) && !handedOver.contains(argument))
        for (int64_t dim = 0, rank = cast<RankedTensorType>(argument.getType()).getRank(); dim < rank; ++dim)
          markUnknown(argument, dim);
  }
}

/// True if the op makes zero padding of the results along `factor` by itself, or of zero padding of the
/// operands: all operands that
/// have the factor are zero there and the op maps zeros to zero, or it is linear in a set whose members all
/// have the factor and are zero there.
bool ZeroPadding::givesZero(Operation *op, RuleAttr rule, int64_t factor) const {
  auto isZeroAlong = [&](unsigned operand) {
    Value value = op->getOperand(operand);
    for (auto [dim, factors] : llvm::enumerate(rule.getOperands()[operand].getDims()))
      if (!factors.empty() && factors[0] == factor)
        return isZero(value, dim);
    return false;
  };
  for (DenseI64ArrayAttr set : rule.getLinear())
    if (!set.empty() && llvm::all_of(set.asArrayRef(), isZeroAlong))
      return true;
  if (cast<ShardingRuleOpInterface>(op).clearsPadding(factor))
    return true;
  if (!cast<ShardingRuleOpInterface>(op).mapsZeroToZero())
    return false;
  for (unsigned operand = 0; operand < op->getNumOperands(); ++operand)
    if (rule.operandHas(operand, factor) && !isZeroAlong(operand))
      return false;
  return true;
}

/// Rows of a table to which no id adds anything. A graph's ids may be any, and shards are masked as if they
/// were; to mask rows that are longer for speed would cost more than they bring, and ids that are checked
/// name none of them.
bool ZeroPadding::isNeverNamed(Operation *op, OpResult result, unsigned dim) const {
  auto adds = dyn_cast<AddsRowsOpInterface>(op);
  return adds && adds.areIdsChecked() && dim == 0 && sizes.hasLongRows(result, dim);
}

bool ZeroPadding::visitRule(Operation *op, RuleAttr rule) {
  bool changed = false;
  for (OpResult result : op->getResults())
    for (auto [dim, factors] : llvm::enumerate(rule.getResults()[result.getResultNumber()].getDims()))
      if (!factors.empty() && isPadded(result, dim) && !givesZero(op, rule, factors[0]) &&
          !isNeverNamed(op, result, dim))
        changed |= markUnknown(result, dim);
  return changed;
}

bool ZeroPadding::copyUnknown(Value from, Value to) {
  bool changed = false;
  for (int64_t dim = 0, rank = cast<RankedTensorType>(from.getType()).getRank(); dim < rank; ++dim)
    if (!isZero(from, dim))
      changed |= markUnknown(to, dim);
  return changed;
}

bool ZeroPadding::visitCall(CallOp call) {
  auto callee = symbols.lookup<func::FuncOp>(call.getCalleeAttr().getAttr());
  auto exit = cast<func::ReturnOp>(callee.front().getTerminator());
  bool changed = false;
  for (auto [operand, argument] : llvm::zip(call.getInputs(), callee.getArguments()))
    changed |= copyUnknown(operand, argument);
  for (auto [returned, result] : llvm::zip(exit.getOperands(), call.getOutputs()))
    changed |= copyUnknown(returned, result);
  return changed;
}

bool ZeroPadding::visit(Operation *op) {
  if (auto call = dyn_cast<CallOp>(op))
    return visitCall(call);
  // Where both sides are padded to one size nothing is cut: {a} -> {a, b} is a slice and keeps what it finds.
  if (auto reshard = dyn_cast<ReshardOp>(op))
    return copyUnknown(reshard.getInput(), reshard.getResult());
  if (auto rule = dyn_cast<ShardingRuleOpInterface>(op))
    return visitRule(op, rule.getShardingRule());
  return false;
}

void ZeroPadding::solve() {
  forEachHandedOver(module, [&](BlockArgument taken, Value made) { handedOver[taken] = made; });
  seedArguments();
  bool changed = true;
  while (changed) {
    changed = false;
    for (auto function : module.getOps<func::FuncOp>())
      function.walk([&](Operation *op) { changed |= visit(op); });
    for (auto [taken, made] : handedOver)
      changed |= copyUnknown(made, taken);
  }
}
