//===- Propagation.cpp - the fixed point of sharding propagation --------------------------------------------===//
#include "Propagation.h"

using namespace mlir;
using namespace mlir::par;

bool ShardingState::uses(StringAttr axis) const {
  return llvm::is_contained(replicated, axis) ||
         llvm::any_of(dims, [&](const Axes &axes) { return llvm::is_contained(axes, axis); });
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

ShardingState Propagation::makeState(RankedTensorType type, ShardingAttr sharding, StringRef origin) {
  ShardingState state;
  if (!sharding) {
    state.dims.resize(type.getRank());
    state.open.assign(type.getRank(), true);
    return state;
  }
  state.dims = getDimAxes(sharding);
  for (DimShardingAttr dim : sharding.getDims())
    state.open.push_back(dim.getOpen());
  state.replicated = Axes(sharding.getReplicated());
  for (StringAttr axis : sharding.getShardedAxes())
    state.origins[axis] = StringAttr::get(module.getContext(), origin);
  return state;
}

ShardingState &Propagation::get(Value value) {
  auto found = values.find(value);
  if (found != values.end())
    return found->second;
  auto type = cast<RankedTensorType>(value.getType());
  return values.try_emplace(value, makeState(type, nullptr, "")).first->second;
}

ShardingState &Propagation::get(func::FuncOp function, unsigned result) {
  ResultKey key(function, result);
  auto found = results.find(key);
  if (found != results.end())
    return found->second;
  auto type = cast<RankedTensorType>(function.getResultTypes()[result]);
  return results.emplace(key, makeState(type, nullptr, "")).first->second;
}

void Propagation::seed() {
  for (auto variable : module.getOps<VariableOp>()) {
    ShardingAttr sharding = variable.getComputeAttr();
    if (!sharding && variable.getOf())
      if (auto parameter = SymbolTable::lookupNearestSymbolFrom<VariableOp>(module, variable.getOfAttr()))
        sharding = parameter.getComputeAttr();
    std::string origin = ("annotation of @" + variable.getSymName()).str();
    variables.emplace(variable.getSymName().str(), makeState(variable.getTensorType(), sharding, origin));
  }
  for (auto function : module.getOps<func::FuncOp>())
    seedFunction(function);
}

void Propagation::seedFunction(func::FuncOp function) {
  // Maps move when they grow: insert everything first, hand out references later.
  for (BlockArgument argument : function.getArguments()) {
    auto input = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), ParDialect::kInputAttr);
    std::string origin = input ? "annotation of input \"" + input.getValue().str() + "\""
                               : "annotation of argument " + std::to_string(argument.getArgNumber()) + " of @" +
                                     function.getSymName().str();
    values[argument] = makeState(cast<RankedTensorType>(argument.getType()), getSharding(argument), origin);
  }
  for (unsigned result = 0; result < function.getNumResults(); ++result)
    results[{function, result}] =
        makeState(cast<RankedTensorType>(function.getResultTypes()[result]), getResultSharding(function, result),
                  "annotation of a result of @" + function.getSymName().str());
  function.walk([&](Operation *op) {
    for (Value result : op->getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type)
        continue;
      ShardingAttr sharding = getSharding(result);
      if (auto constrain = dyn_cast<ConstrainOp>(op))
        sharding = constrain.getSharding();
      values[result] = makeState(type, sharding, "par.constrain");
    }
  });
}

//===----------------------------------------------------------------------===//
// Flow
//===----------------------------------------------------------------------===//

bool Propagation::extend(ShardingState &state, unsigned dim, ArrayRef<StringAttr> axes, int64_t size,
                         function_ref<StringAttr(StringAttr)> origin) {
  Axes &have = state.dims[dim];
  if (!state.open[dim] || axes.size() <= have.size() || ArrayRef<StringAttr>(have) != axes.take_front(have.size()))
    return false;
  bool changed = false;
  for (StringAttr axis : axes.drop_front(have.size())) {
    // Splitting further than there are elements would only make padding.
    if (state.uses(axis) || mesh.getSize(have) * mesh.getSize(axis.getValue()) > std::max<int64_t>(size, 1))
      break;
    have.push_back(axis);
    state.origins[axis] = origin(axis);
    changed = true;
  }
  return changed;
}

bool Propagation::join(ShardingState &a, ShardingState &b, RankedTensorType type) {
  bool changed = false;
  for (unsigned dim = 0; dim < a.dims.size(); ++dim) {
    changed |= extend(a, dim, b.dims[dim], type.getDimSize(dim), [&](StringAttr axis) { return b.origins[axis]; });
    changed |= extend(b, dim, a.dims[dim], type.getDimSize(dim), [&](StringAttr axis) { return a.origins[axis]; });
  }
  return changed;
}

bool Propagation::visitRule(Operation *op, RuleAttr rule) {
  ShardedOp sharded{rule, mesh, {}, {}, {}, {}, {}, 0};
  SmallVector<Value> tensors(op->getOperands());
  llvm::append_range(tensors, op->getResults());
  for (Value operand : op->getOperands()) {
    sharded.operands.push_back(get(operand).dims);
    sharded.operandTypes.push_back(cast<RankedTensorType>(operand.getType()));
  }
  for (Value result : op->getResults()) {
    ShardingState &state = get(result);
    sharded.results.push_back(state.dims);
    sharded.resultTypes.push_back(cast<RankedTensorType>(result.getType()));
    sharded.freeResults.push_back(llvm::all_of(state.open, [](bool open) { return open; }));
  }
  if (auto cost = dyn_cast<CostOpInterface>(op))
    sharded.flops = cost.getFlops();
  FactorAxes factors = assignFactors(sharded);

  auto origin = [&](StringAttr axis) {
    for (Value tensor : tensors)
      if (auto found = get(tensor).origins.find(axis); found != get(tensor).origins.end())
        return found->second;
    return StringAttr::get(op->getContext(), "");
  };
  bool changed = false;
  for (auto [number, tensor] : llvm::enumerate(tensors)) {
    TensorFactorsAttr mapping = number < op->getNumOperands() ? rule.getOperands()[number]
                                                              : rule.getResults()[number - op->getNumOperands()];
    DimAxes wanted = projectFactors(mapping, factors);
    for (unsigned dim = 0; dim < wanted.size(); ++dim) {
      if (!extend(get(tensor), dim, wanted[dim], sharded.rule.getSizes()[mapping.getDims()[dim].empty() ? 0 : mapping.getDims()[dim][0]],
                  origin))
        continue;
      changed = true;
      if (explain)
        op->emitRemark(number < op->getNumOperands() ? "operand " : "result ")
            << (number < op->getNumOperands() ? number : number - op->getNumOperands()) << " dimension " << dim
            << " is split over " << wanted[dim].back() << " from " << origin(wanted[dim].back());
    }
  }
  return changed;
}

bool Propagation::visitCall(CallOp call) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
  bool changed = false;
  for (auto [operand, argument] : llvm::zip(call.getInputs(), callee.getArguments()))
    changed |= join(get(operand), get(argument), cast<RankedTensorType>(operand.getType()));
  for (auto [number, result] : llvm::enumerate(call.getOutputs()))
    changed |= join(get(result), get(callee, number), cast<RankedTensorType>(result.getType()));
  return changed;
}

bool Propagation::visitReturn(func::ReturnOp op) {
  auto function = cast<func::FuncOp>(op->getParentOp());
  bool changed = false;
  for (auto [number, operand] : llvm::enumerate(op.getOperands()))
    changed |= join(get(operand), get(function, number), cast<RankedTensorType>(operand.getType()));
  return changed;
}

bool Propagation::visit(Operation *op) {
  if (auto call = dyn_cast<CallOp>(op))
    return visitCall(call);
  if (auto exit = dyn_cast<func::ReturnOp>(op))
    return visitReturn(exit);
  if (auto rule = dyn_cast<ShardingRuleOpInterface>(op))
    return visitRule(op, rule.getShardingRule());
  return false;
}

bool Propagation::linkVariable(StringRef symbol, ShardingState &state) {
  auto found = variables.find(symbol.str());
  if (found == variables.end())
    return false;
  auto variable = SymbolTable::lookupNearestSymbolFrom<VariableOp>(module, StringAttr::get(module.getContext(), symbol));
  return join(found->second, state, variable.getTensorType());
}

/// Every argument and result bound to a variable has the variable's sharding, and what belongs to a parameter has its.
bool Propagation::visitBindings(func::FuncOp function) {
  bool changed = false;
  for (BlockArgument argument : function.getArguments())
    if (auto symbol = function.getArgAttrOfType<FlatSymbolRefAttr>(argument.getArgNumber(), ParDialect::kBindAttr))
      changed |= linkVariable(symbol.getValue(), get(argument));
  for (unsigned result = 0; result < function.getNumResults(); ++result)
    if (auto symbol = function.getResultAttrOfType<FlatSymbolRefAttr>(result, ParDialect::kBindAttr))
      changed |= linkVariable(symbol.getValue(), get(function, result));
  return changed;
}

void Propagation::run() {
  bool changed = true;
  while (changed) {
    changed = false;
    for (auto function : module.getOps<func::FuncOp>()) {
      changed |= visitBindings(function);
      SmallVector<Operation *> ops;
      function.walk([&](Operation *op) { ops.push_back(op); });
      for (Operation *op : ops)
        changed |= visit(op);
      for (Operation *op : llvm::reverse(ops))
        changed |= visit(op);
    }
    for (auto variable : module.getOps<VariableOp>())
      if (variable.getOf())
        changed |= linkVariable(*variable.getOf(), variables.at(variable.getSymName().str()));
  }
}

//===----------------------------------------------------------------------===//
// Result
//===----------------------------------------------------------------------===//

/// `par.origin = {tp = "annotation of @w"}`: where the axes of an op's operands and results come from.
void Propagation::writeOrigins(Operation *op) {
  NamedAttrList origins;
  SmallVector<Value> tensors(op->getOperands());
  llvm::append_range(tensors, op->getResults());
  for (Value tensor : tensors) {
    auto found = values.find(tensor);
    if (found == values.end())
      continue;
    for (auto &[axis, origin] : found->second.origins)
      if (origin && !origins.get(axis))
        origins.set(axis, origin);
  }
  if (!origins.empty() && op->getNumResults())
    op->setAttr("par.origin", origins.getDictionary(op->getContext()));
}

void Propagation::write() {
  MLIRContext *context = module.getContext();
  std::string name = getMeshName(module).str();
  auto closed = [&](const ShardingState &state) { return makeSharding(context, name, state.dims); };
  for (auto &[value, state] : values)
    setSharding(value, closed(state));
  module.walk([&](Operation *op) { writeOrigins(op); });
  for (auto &[key, state] : results)
    setResultSharding(cast<func::FuncOp>(key.first), key.second, closed(state));
  for (auto variable : module.getOps<VariableOp>())
    variable.setComputeAttr(closed(variables.at(variable.getSymName().str())));
}
