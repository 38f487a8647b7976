//===- SameDims.cpp - dimensions of values that are one of the model ------------------------------===//
#include "SameDims.h"
#include "HandedOver.h"
#include "par/Dialect/Par/IR/Places.h"

using namespace mlir;
using namespace mlir::par;

static unsigned getRank(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getRank() : 0;
}

static SameDims::Key getKey(Value value, unsigned dim) { return {value.getAsOpaquePointer(), dim}; }

static SameDims::Key getKey(StringAttr variable, unsigned dim) {
  return {variable.getAsOpaquePointer(), dim};
}

SameDims::SameDims(ModuleOp module, const SymbolTable &symbols) {
  for (auto variable : module.getOps<VariableOp>())
    visitVariable(variable, symbols);
  for (auto function : module.getOps<func::FuncOp>())
    visitFunction(function, symbols);
  forEachHandedOver(module, [&](BlockArgument taken, Value made) { join(taken, made); });
  for (Key key : marked)
    fixed.insert(same.getOrInsertLeaderValue(key));
}

SameDims::Key SameDims::find(Value value, unsigned dim) const {
  Key key = getKey(value, dim);
  auto leader = same.findLeader(key);
  return leader == same.member_end() ? key : *leader;
}

void SameDims::join(Value a, Value b) {
  for (unsigned dim = 0; dim < getRank(a); ++dim)
    same.unionSets(getKey(a, dim), getKey(b, dim));
}

void SameDims::join(Value value, FlatSymbolRefAttr variable) {
  for (unsigned dim = 0; dim < getRank(value); ++dim)
    same.unionSets(getKey(value, dim), getKey(variable.getAttr(), dim));
}

void SameDims::fix(Value value) {
  for (unsigned dim = 0; dim < getRank(value); ++dim)
    marked.push_back(getKey(value, dim));
}

/// State lies as the parameter does that it belongs to.
void SameDims::visitVariable(VariableOp variable, const SymbolTable &symbols) {
  auto owner = variable.getOf() ? symbols.lookup<VariableOp>(*variable.getOf()) : VariableOp();
  if (!owner || owner.getTensorType().getShape() != variable.getTensorType().getShape())
    return;
  for (unsigned dim = 0; dim < variable.getTensorType().getRank(); ++dim)
    same.unionSets(getKey(variable.getSymNameAttr(), dim), getKey(owner.getSymNameAttr(), dim));
}

void SameDims::visitFunction(func::FuncOp function, const SymbolTable &symbols) {
  for (BlockArgument argument : function.getArguments())
    if (FlatSymbolRefAttr variable = getVariable(argument))
      join(argument, variable);
    else if (function.isExternal() || !getInputName(function, argument.getArgNumber()).empty())
      fix(argument);
  function.walk([&](Operation *op) { visitOp(op, symbols); });
}

void SameDims::visitOp(Operation *op, const SymbolTable &symbols) {
  if (auto exit = dyn_cast<func::ReturnOp>(op)) {
    auto function = cast<func::FuncOp>(exit->getParentOp());
    for (auto [result, value] : llvm::enumerate(exit.getOperands())) {
      if (FlatSymbolRefAttr variable = getResultVariable(function, result))
        join(value, variable);
      if (std::optional<int64_t> argument = getAlias(function, result))
        join(value, function.getArgument(*argument));
    }
  } else if (auto call = dyn_cast<CallOp>(op)) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCalleeAttr().getAttr());
    for (auto [operand, argument] : llvm::zip(call.getInputs(), callee.getArguments()))
      join(operand, argument);
    auto exit = cast<func::ReturnOp>(callee.front().getTerminator());
    for (auto [returned, result] : llvm::zip(exit.getOperands(), call.getOutputs()))
      join(returned, result);
  } else if (auto reshard = dyn_cast<ReshardOp>(op)) {
    join(reshard.getInput(), reshard.getResult());
  } else if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto value = dyn_cast<DenseElementsAttr>(constant.getValue()); value && !value.isSplat())
      fix(constant);
  } else if (auto rule = dyn_cast<ShardingRuleOpInterface>(op)) {
    visitRule(rule);
  } else if (!isa<func::FuncOp>(op)) {
    llvm::for_each(op->getOperands(), [&](Value value) { fix(value); });
    llvm::for_each(op->getResults(), [&](Value value) { fix(value); });
  }
}

void SameDims::visitRule(ShardingRuleOpInterface op) {
  RuleAttr rule = op.getShardingRule();
  llvm::SmallVector<std::optional<Key>> byFactor(rule.getNumFactors());
  auto visit = [&](Value value, TensorFactorsAttr factors) {
    for (auto [dim, numbers] : llvm::enumerate(factors.getDims())) {
      Key key = getKey(value, dim);
      if (numbers.size() != 1 || rule.getKinds()[numbers[0]] == FactorKind::NeedReplication) {
        marked.push_back(key);
        continue;
      }
      std::optional<Key> &first = byFactor[numbers[0]];
      if (!first)
        first = key;
      same.unionSets(*first, key);
    }
  };
  for (auto [value, factors] : llvm::zip(op->getOperands(), rule.getOperands()))
    visit(value, factors);
  for (auto [value, factors] : llvm::zip(op->getResults(), rule.getResults()))
    visit(value, factors);
}
