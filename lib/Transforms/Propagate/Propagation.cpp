//===- Propagation.cpp - the fixed point of sharding propagation ----------------------------------------===//
#include "Propagation.h"
#include "par/Dialect/Par/IR/Places.h"
#include <map>

using namespace mlir;
using namespace mlir::par;

bool ShardingState::uses(StringAttr axis) const {
  return llvm::is_contained(replicated, axis) ||
         llvm::any_of(dims, [&](const Axes &axes) { return llvm::is_contained(axes, axis); });
}

bool ShardingState::isExplained() const {
  auto isKnown = [&](StringAttr axis) { return bool(getOrigin(axis)); };
  return llvm::all_of(replicated, isKnown) &&
         llvm::all_of(dims, [&](const Axes &axes) { return llvm::all_of(axes, isKnown); });
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
  if (!origin.empty())
    for (StringAttr axis : sharding.getShardedAxes())
      state.origins[axis] = StringAttr::get(module.getContext(), origin);
  return state;
}

/// One state for all of them: were they joined like values, each function could settle a conflict in its own
/// way.
ShardingState *Propagation::getShared(FlatSymbolRefAttr symbol) {
  if (!symbol)
    return nullptr;
  ShardingState *&state = shared[symbol.getAttr()];
  auto variable = state ? VariableOp() : symbols.lookup<VariableOp>(symbol.getAttr());
  if (!variable)
    return state;
  // State lies as its parameter does, unless it is stored in its own way.
  if (FlatSymbolRefAttr of = variable.getOfAttr(); of && !variable.getStorageAttr())
    if (auto owner = symbols.lookup<VariableOp>(of.getAttr());
        owner && owner.getTensorType().getShape() == variable.getTensorType().getShape())
      variable = owner;
  auto found = variables.find(variable.getSymName().str());
  if (found == variables.end()) {
    std::string origin = ("annotation of @" + variable.getSymName()).str();
    found = variables
                .emplace(variable.getSymName().str(),
                         makeState(variable.getTensorType(), variable.getComputeAttr(), origin))
                .first;
  }
  return state = &found->second;
}

ShardingState &Propagation::add(Value value, ShardingState state) {
  values.emplace_back(value, std::move(state));
  return *(states[value] = &values.back().second);
}

ShardingState &Propagation::get(Value value) {
  if (ShardingState *state = states.lookup(value))
    return *state;
  if (ShardingState *shared = getShared(getVariable(value)))
    return *(states[value] = shared);
  return add(value, makeState(cast<RankedTensorType>(value.getType()), nullptr, ""));
}

ShardingState &Propagation::get(func::FuncOp function, unsigned result) {
  if (ShardingState *shared = getShared(getResultVariable(function, result)))
    return *shared;
  ResultKey key(function, result);
  auto found = results.find(key);
  if (found != results.end())
    return found->second;
  auto type = cast<RankedTensorType>(function.getResultTypes()[result]);
  return results.emplace(key, makeState(type, nullptr, "")).first->second;
}

void Propagation::seed() {
  seedVariables();
  for (auto function : module.getOps<func::FuncOp>())
    seedFunction(function);
}

void Propagation::seedVariables() {
  for (auto variable : module.getOps<VariableOp>()) {
    ShardingState &shared = *getShared(FlatSymbolRefAttr::get(variable.getSymNameAttr()));
    ShardingState own = makeState(variable.getTensorType(), variable.getComputeAttr(),
                                  ("annotation of @" + variable.getSymName()).str());
    join(shared, own, variable.getTensorType());
  }
}

void Propagation::seedFunction(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    StringRef input = getInputName(function, argument.getArgNumber());
    std::string origin = input.empty() ? "" : "annotation of input \"" + input.str() + "\"";
    auto type = cast<RankedTensorType>(argument.getType());
    ShardingState own = makeState(type, getSharding(argument), origin);
    if (ShardingState *shared = getShared(getVariable(argument)))
      join(*shared, own, type);
    else
      add(argument, std::move(own));
  }
  for (unsigned result = 0; result < function.getNumResults(); ++result) {
    auto type = cast<RankedTensorType>(function.getResultTypes()[result]);
    ShardingState own = makeState(type, getResultSharding(function, result), "");
    if (ShardingState *shared = getShared(getResultVariable(function, result)))
      join(*shared, own, type);
    else
      results[{function, result}] = own;
  }
  function.walk([&](Operation *op) {
    for (Value result : op->getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type)
        continue;
      ShardingAttr sharding = getSharding(result);
      if (auto constrain = dyn_cast<ConstrainOp>(op))
        sharding = constrain.getSharding();
      add(result, makeState(type, sharding, ""));
    }
  });
}

//===----------------------------------------------------------------------===//
// Flow
//===----------------------------------------------------------------------===//

bool Propagation::extend(ShardingState &state, unsigned dim, ArrayRef<StringAttr> axes, int64_t size,
                         function_ref<StringAttr(StringAttr)> origin) {
  Axes &have = state.dims[dim];
  if (!state.open[dim] || axes.size() <= have.size() ||
      ArrayRef<StringAttr>(have) != axes.take_front(have.size()))
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
  if (changed)
    state.changed = ++changes;
  return changed;
}

bool Propagation::join(ShardingState &a, ShardingState &b, RankedTensorType type) {
  bool changed = false;
  for (unsigned dim = 0; dim < a.dims.size(); ++dim) {
    changed |=
        extend(a, dim, b.dims[dim], type.getDimSize(dim), [&](StringAttr axis) { return b.getOrigin(axis); });
    changed |=
        extend(b, dim, a.dims[dim], type.getDimSize(dim), [&](StringAttr axis) { return a.getOrigin(axis); });
  }
  return changed;
}

/// What to name where no annotation of a variable or an input is found.
static std::string describeFallback(Value value) {
  if (getVariable(value))
    return "";
  if (auto argument = dyn_cast<BlockArgument>(value))
    return "annotation of argument " + std::to_string(argument.getArgNumber()) + " of @" +
           cast<func::FuncOp>(argument.getOwner()->getParentOp()).getSymName().str();
  Operation *op = value.getDefiningOp();
  return isa<ConstrainOp>(op) ? "par.constrain" : "sharding of " + op->getName().getStringRef().str();
}

bool Propagation::visitRule(Operation *op, RuleAttr rule) {
  ShardedOp sharded = describeOp(op, rule, mesh, flopsPerByte, [&](Value value) { return get(value).dims; });
  for (auto [result, isFree] : llvm::zip(op->getResults(), sharded.freeResults))
    isFree = llvm::all_of(get(result).open, [](bool open) { return open; });
  SmallVector<Value> tensors(op->getOperands());
  llvm::append_range(tensors, op->getResults());
  FactorAxes factors = assignFactors(sharded);

  auto origin = [&](StringAttr axis) {
    for (Value tensor : tensors)
      if (StringAttr found = get(tensor).getOrigin(axis))
        return found;
    return StringAttr();
  };
  auto describe = [&](StringAttr axis, Value changed) {
    std::string text;
    for (Value tensor : tensors)
      if (text.empty() && tensor != changed && get(tensor).uses(axis))
        text = describeFallback(tensor);
    StringAttr found = origin(axis);
    return found ? found.getValue().str() : text;
  };
  bool changed = false;
  for (auto [number, tensor] : llvm::enumerate(tensors)) {
    TensorFactorsAttr mapping = number < op->getNumOperands()
                                    ? rule.getOperands()[number]
                                    : rule.getResults()[number - op->getNumOperands()];
    DimAxes wanted = projectFactors(mapping, factors);
    for (unsigned dim = 0; dim < wanted.size(); ++dim) {
      DenseI64ArrayAttr factorsOfDim = mapping.getDims()[dim];
      // A dimension without a factor has size 1 and nothing to split.
      if (factorsOfDim.empty() ||
          !extend(get(tensor), dim, wanted[dim], rule.getSizes()[factorsOfDim[0]], origin))
        continue;
      changed = true;
      if (explain)
        op->emitRemark(number < op->getNumOperands() ? "operand " : "result ")
            << (number < op->getNumOperands() ? number : number - op->getNumOperands()) << " dimension "
            << dim << " is split over " << wanted[dim].back() << " from \""
            << describe(wanted[dim].back(), tensor) << "\"";
    }
  }
  return changed;
}

bool Propagation::visitCall(CallOp call) {
  auto callee = symbols.lookup<func::FuncOp>(call.getCalleeAttr().getAttr());
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

/// Whether a tensor has gained axes since the op was visited: else it would do what it did, nothing.
bool Propagation::hasNews(const RuledOp &ruled) {
  auto isNew = [&](Value tensor) { return get(tensor).changed > ruled.visited; };
  return llvm::any_of(ruled.op->getOperands(), isNew) || llvm::any_of(ruled.op->getResults(), isNew);
}

bool Propagation::visit(RuledOp &ruled) {
  if (auto call = dyn_cast<CallOp>(ruled.op))
    return visitCall(call);
  if (auto exit = dyn_cast<func::ReturnOp>(ruled.op))
    return visitReturn(exit);
  if (!ruled.rule || !hasNews(ruled))
    return false;
  ruled.visited = changes;
  return visitRule(ruled.op, ruled.rule);
}

void Propagation::run() {
  // Every op is visited several times, and making its rule costs as much as applying it.
  SmallVector<SmallVector<RuledOp>> functions;
  for (auto function : module.getOps<func::FuncOp>())
    function.walk([ops = &functions.emplace_back()](Operation *op) {
      auto rule = dyn_cast<ShardingRuleOpInterface>(op);
      ops->push_back({op, rule ? rule.getShardingRule() : RuleAttr()});
    });
  bool changed = true;
  while (changed) {
    changed = false;
    for (SmallVector<RuledOp> &ops : functions) {
      for (RuledOp &each : ops)
        changed |= visit(each);
      for (RuledOp &each : llvm::reverse(ops))
        changed |= visit(each);
    }
  }
}

//===----------------------------------------------------------------------===//
// Result
//===----------------------------------------------------------------------===//

/// Origins flow between the tensors of an op that use the axis, and through calls and returns.
bool Propagation::copyOrigins(Operation *op) {
  SmallVector<ShardingState *> states;
  bool changed = false;
  auto share = [&](ArrayRef<ShardingState *> all) {
    if (llvm::all_of(all, [](ShardingState *state) { return state->isExplained(); }))
      return;
    llvm::SmallMapVector<StringAttr, StringAttr, 4> known;
    for (ShardingState *state : all)
      for (auto &[axis, origin] : state->origins)
        if (origin)
          known.insert({axis, origin});
    for (ShardingState *state : all)
      for (auto &[axis, origin] : known)
        if (StringAttr &own = state->origins[axis]; !own && state->uses(axis)) {
          own = origin;
          changed = true;
        }
  };
  if (auto call = dyn_cast<CallOp>(op)) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCalleeAttr().getAttr());
    for (auto [operand, argument] : llvm::zip(call.getInputs(), callee.getArguments()))
      share({&get(operand), &get(argument)});
    for (auto [number, result] : llvm::enumerate(call.getOutputs()))
      share({&get(result), &get(callee, number)});
  } else if (auto exit = dyn_cast<func::ReturnOp>(op)) {
    for (auto [number, operand] : llvm::enumerate(exit.getOperands()))
      share({&get(operand), &get(cast<func::FuncOp>(op->getParentOp()), number)});
  } else {
    for (Value tensor : op->getOperands())
      states.push_back(&get(tensor));
    for (Value tensor : op->getResults())
      states.push_back(&get(tensor));
    share(states);
  }
  return changed;
}

void Propagation::spreadOrigins() {
  bool changed = true;
  while (changed) {
    changed = false;
    for (auto function : module.getOps<func::FuncOp>()) {
      function.walk([&](Operation *op) { changed |= op != function && copyOrigins(op); });
    }
  }
}

void Propagation::findOrigins() {
  spreadOrigins();
  auto fall = [&](Value value, ShardingState &state) {
    if (state.isExplained())
      return;
    std::string fallback = describeFallback(value);
    for (const Axes &axes : state.dims)
      for (StringAttr axis : axes)
        if (StringAttr &origin = state.origins[axis]; !origin && !fallback.empty())
          origin = StringAttr::get(module.getContext(), fallback);
  };
  // What a user can have written: arguments and constraints.
  for (auto &[value, state] : values)
    if (isa<BlockArgument>(value) || isa<ConstrainOp>(value.getDefiningOp()))
      fall(value, state);
  spreadOrigins();
  for (auto &[value, state] : values)
    fall(value, state);
}

/// `par.origin = {tp = "annotation of @w"}`: where the axes of an op's operands and results come from.
void Propagation::writeOrigins(Operation *op) {
  NamedAttrList origins;
  SmallVector<Value> tensors(op->getOperands());
  llvm::append_range(tensors, op->getResults());
  for (Value tensor : tensors) {
    for (auto &[axis, origin] : get(tensor).origins)
      if (origin && !origins.get(axis))
        origins.set(axis, origin);
  }
  if (!origins.empty() && op->getNumResults())
    op->setAttr(ParDialect::kOriginAttr, origins.getDictionary(op->getContext()));
}

void Propagation::writeOrigins() {
  findOrigins();
  module.walk([&](Operation *op) { writeOrigins(op); });
}

void Propagation::writeShardings() {
  MLIRContext *context = module.getContext();
  std::string name = getMeshName(module).str();
  // Few shardings for many values: they are made once.
  std::map<std::vector<const void *>, ShardingAttr> made;
  auto closed = [&](const ShardingState &state) {
    std::vector<const void *> key;
    for (const Axes &axes : state.dims) {
      for (StringAttr axis : axes)
        key.push_back(axis.getAsOpaquePointer());
      key.push_back(nullptr);
    }
    ShardingAttr &sharding = made[std::move(key)];
    return sharding ? sharding : sharding = makeSharding(context, name, state.dims);
  };
  for (auto &[value, state] : values)
    if (isa<OpResult>(value))
      setSharding(value, closed(state));
  for (auto function : module.getOps<func::FuncOp>()) {
    SmallVector<Attribute> arguments, results;
    for (BlockArgument argument : function.getArguments())
      arguments.push_back(closed(get(argument)));
    for (unsigned result = 0; result < function.getNumResults(); ++result)
      results.push_back(closed(get(function, result)));
    setArgumentAttrs(function, ParDialect::kShardingAttr, arguments);
    setResultAttrs(function, ParDialect::kShardingAttr, results);
  }
  for (auto variable : module.getOps<VariableOp>())
    variable.setComputeAttr(closed(*getShared(FlatSymbolRefAttr::get(variable.getSymNameAttr()))));
}
