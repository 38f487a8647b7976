//===- UpdateBuilder.cpp - updates of all parameters, layer by layer ----------------------------------------===//
#include "UpdateBuilder.h"

using namespace mlir;
using namespace mlir::par;

//===----------------------------------------------------------------------===//
// Arguments and results
//===----------------------------------------------------------------------===//

static DictionaryAttr makeAttributes(MLIRContext *context, StringRef name, Attribute attribute, ShardingAttr sharding) {
  NamedAttrList attributes;
  if (attribute)
    attributes.append(name, attribute);
  if (sharding)
    attributes.append(ParDialect::kShardingAttr, sharding);
  return attributes.getDictionary(context);
}

Value par::addArgument(func::FuncOp function, Type type, StringRef name, Attribute attribute, ShardingAttr sharding) {
  unsigned index = function.getNumArguments();
  function.insertArgument(index, type, makeAttributes(function.getContext(), name, attribute, sharding),
                          function.getLoc());
  return function.getArgument(index);
}

Value par::addArgument(func::FuncOp function, VariableOp variable) {
  return addArgument(function, variable.getTensorType(), ParDialect::kBindAttr, FlatSymbolRefAttr::get(variable),
                     variable.getComputeAttr());
}

void par::addResult(func::FuncOp function, Type type, StringRef name, Attribute attribute, ShardingAttr sharding) {
  function.insertResult(function.getNumResults(), type,
                        makeAttributes(function.getContext(), name, attribute, sharding));
}

void par::addResult(func::FuncOp function, VariableOp variable) {
  addResult(function, variable.getTensorType(), ParDialect::kBindAttr, FlatSymbolRefAttr::get(variable),
            variable.getComputeAttr());
}

//===----------------------------------------------------------------------===//
// One parameter
//===----------------------------------------------------------------------===//

/// Tensors of rank ≥ 2 as the model's file has them (a bias of two logical dimensions is a vector there).
bool UpdateBuilder::hasDecay(unsigned index) const {
  VariableOp parameter = states[index].parameter;
  FileAttr file = parameter.getFileAttr();
  if (file && !file.getShape().empty())
    return file.getShape().size() >= 2;
  return parameter.getTensorType().getRank() >= 2;
}

SmallVector<Value> UpdateBuilder::buildUpdate(OpBuilder &builder, Location location, unsigned index,
                                              ArrayRef<Value> state, ArrayRef<Value> scalars) {
  Type type = state[0].getType();
  SmallVector<Value> operands(state);
  llvm::append_range(operands, scalars);
  SmallVector<NamedAttribute> attributes;
  if (hasDecay(index))
    attributes.push_back(builder.getNamedAttr("decay", builder.getUnitAttr()));
  Operation *op = adamw ? builder.create<AdamWOp>(location, TypeRange{type, type, type}, operands, attributes).getOperation()
                        : builder.create<SgdOp>(location, TypeRange{type}, operands, attributes).getOperation();
  return op->getResults();
}

/// min(1, clip / (norm + 1e-6)), 1 where clipping is off (contract, item 4).
Value UpdateBuilder::buildClipFactor(OpBuilder &builder, Location location, Value clip, Value norm) {
  auto type = cast<RankedTensorType>(clip.getType());
  Value one = buildSplat(builder, location, type, 1.0);
  Value zero = buildSplat(builder, location, type, 0.0);
  Value epsilon = buildSplat(builder, location, type, 1e-6);
  Value divisor = builder.create<arith::AddFOp>(location, norm, epsilon);
  Value ratio = builder.create<arith::DivFOp>(location, clip, divisor);
  Value bounded = builder.create<arith::MinimumFOp>(location, one, ratio);
  Value enabled = builder.create<arith::CmpFOp>(location, arith::CmpFPredicate::OGT, clip, zero);
  return builder.create<arith::SelectOp>(location, enabled, bounded, one);
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

/// Parameters that a call of a layer uses and nothing else does.
DenseMap<Operation *, SmallVector<unsigned>> UpdateBuilder::groupByCall() {
  DenseMap<Operation *, SmallVector<unsigned>> groups;
  llvm::StringMap<BlockArgument> bound;
  for (BlockArgument argument : forward.getArguments())
    if (auto bind = forward.getArgAttrOfType<FlatSymbolRefAttr>(argument.getArgNumber(), ParDialect::kBindAttr))
      bound[bind.getValue()] = argument;
  for (auto [index, state] : llvm::enumerate(states)) {
    VariableOp parameter = state.parameter;
    BlockArgument argument = bound.lookup(parameter.getSymName());
    if (argument && argument.hasOneUse() && isa<CallOp>(*argument.user_begin()))
      groups[*argument.user_begin()].push_back(index);
  }
  // A group's order is that of the call's operands, so that calls of one layer have one update function.
  for (auto &[call, group] : groups)
    llvm::sort(group, [&, call = call](unsigned a, unsigned b) {
      auto position = [&](unsigned index) {
        VariableOp parameter = states[index].parameter;
        return llvm::find(call->getOperands(), bound.lookup(parameter.getSymName())) - call->operand_begin();
      };
      return position(a) < position(b);
    });
  return groups;
}

func::FuncOp UpdateBuilder::createLayerUpdate(StringRef name, ArrayRef<unsigned> group) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto function = builder.create<func::FuncOp>(forward.getLoc(), name, builder.getFunctionType({}, {}));
  function.setPrivate();
  Block *entry = function.addEntryBlock();
  SmallVector<Values> state(group.size());
  for (unsigned part = 0; part < getNumParts(); ++part)
    for (auto [values, index] : llvm::zip(state, group)) {
      VariableOp parameter = states[index].parameter;
      values.push_back(addArgument(function, parameter.getTensorType(), "", nullptr, parameter.getComputeAttr()));
    }
  SmallVector<Value> local;
  for (Value scalar : scalars)
    local.push_back(addArgument(function, scalar.getType(), "", nullptr, nullptr));
  builder.setInsertionPointToEnd(entry);
  SmallVector<SmallVector<Value>> results;
  for (auto [values, index] : llvm::zip(state, group))
    results.push_back(buildUpdate(builder, forward.getLoc(), index, values, local));
  SmallVector<Value> returned;
  for (unsigned part = 0; part < results.front().size(); ++part)
    for (auto [values, old] : llvm::zip(results, state)) {
      returned.push_back(values[part]);
      // Result 0 is the parameter; the moments stand behind the gradient.
      auto argument = cast<BlockArgument>(old[part == 0 ? 0 : part + 1]);
      addResult(function, values[part].getType(), ParDialect::kAliasAttr,
                builder.getI64IntegerAttr(argument.getArgNumber()), getSharding(argument));
    }
  builder.create<func::ReturnOp>(forward.getLoc(), returned);
  return function;
}

/// One function per layer and per set of types, shardings and decays of the parameters.
func::FuncOp UpdateBuilder::getLayerUpdate(StringRef layer, ArrayRef<unsigned> group) {
  std::string base = (layer.ends_with(".forward") ? layer.drop_back(strlen(".forward")) : layer).str() + ".update";
  std::string key = base;
  llvm::raw_string_ostream stream(key);
  for (unsigned index : group) {
    VariableOp parameter = states[index].parameter;
    stream << "|" << parameter.getTensorType() << hasDecay(index);
    if (ShardingAttr sharding = parameter.getComputeAttr())
      stream << sharding;
  }
  func::FuncOp &function = layerUpdates[stream.str()];
  if (function)
    return function;
  std::string name = base;
  for (unsigned variant = 1; module.lookupSymbol(name); ++variant)
    name = base + "." + std::to_string(variant);
  return function = createLayerUpdate(name, group);
}

void UpdateBuilder::callLayerUpdate(OpBuilder &builder, CallOp call, ArrayRef<unsigned> group) {
  func::FuncOp function = getLayerUpdate(call.getCallee(), group);
  SmallVector<Value> operands;
  for (unsigned part = 0; part < getNumParts(); ++part)
    for (unsigned index : group)
      operands.push_back(arguments[index][part]);
  llvm::append_range(operands, scalars);
  auto result = builder.create<CallOp>(call.getLoc(), function.getResultTypes(), function.getName(), operands);
  for (unsigned number = 0; number < result.getNumResults(); ++number) {
    updated[group[number % group.size()]].push_back(result.getResult(number));
    if (ShardingAttr sharding = getResultSharding(function, number))
      setSharding(result.getResult(number), sharding);
  }
}

//===----------------------------------------------------------------------===//
// The chunk
//===----------------------------------------------------------------------===//

void UpdateBuilder::addArguments(func::FuncOp update, VariableOp gradNorm) {
  OpBuilder builder = OpBuilder::atBlockEnd(&update.getBody().front());
  arguments.resize(states.size());
  for (auto [values, state] : llvm::zip(arguments, states))
    values.push_back(addArgument(update, state.parameter));
  for (auto [values, state] : llvm::zip(arguments, states))
    values.push_back(addArgument(update, state.gradient));
  for (unsigned moment = 0; moment + 2 < getNumParts(); ++moment)
    for (auto [values, state] : llvm::zip(arguments, states))
      values.push_back(addArgument(update, state.moments[moment]));
  Value norm = addArgument(update, gradNorm);
  auto addInput = [&](StringRef name) {
    return addArgument(update, norm.getType(), ParDialect::kInputAttr, builder.getStringAttr(name), nullptr);
  };
  SmallVector<StringRef> names = {"lr", "weight_decay"};
  if (adamw)
    names = {"lr", "beta1", "beta2", "eps", "weight_decay", "bias1", "bias2"};
  for (StringRef name : names)
    scalars.push_back(addInput(name));
  scalars.push_back(buildClipFactor(builder, update.getLoc(), addInput("clip"), norm));
}

void UpdateBuilder::build(func::FuncOp update, VariableOp gradNorm) {
  addArguments(update, gradNorm);
  OpBuilder builder = OpBuilder::atBlockEnd(&update.getBody().front());
  updated.resize(states.size());
  DenseMap<Operation *, SmallVector<unsigned>> groups = groupByCall();
  for (CallOp call : forward.getOps<CallOp>())
    if (auto group = groups.find(call); group != groups.end())
      callLayerUpdate(builder, call, group->second);
  for (unsigned index = 0; index < states.size(); ++index)
    if (updated[index].empty())
      updated[index] = buildUpdate(builder, update.getLoc(), index, arguments[index], scalars);

  SmallVector<Value> returned;
  for (auto [values, state] : llvm::zip(updated, states)) {
    returned.push_back(values[0]);
    addResult(update, state.parameter);
  }
  for (unsigned moment = 0; moment + 2 < getNumParts(); ++moment)
    for (auto [values, state] : llvm::zip(updated, states)) {
      returned.push_back(values[1 + moment]);
      addResult(update, state.moments[moment]);
    }
  builder.create<func::ReturnOp>(update.getLoc(), returned);
}
