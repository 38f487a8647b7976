//===- UpdateBuilder.cpp - updates of all parameters, layer by layer ------------------------------------===//
#include "UpdateBuilder.h"
#include "par/Dialect/Par/IR/FilePlaces.h"

using namespace mlir;
using namespace mlir::par;

//===----------------------------------------------------------------------===//
// One parameter
//===----------------------------------------------------------------------===//

/// Tensors of rank ≥ 2 as the model's file has them (a bias of two logical dimensions is a vector there).
bool UpdateBuilder::hasDecay(unsigned index) const {
  if (states[index].decays)
    return *states[index].decays;
  VariableOp parameter = states[index].parameter;
  if (parameter.getFileAttr())
    return getFileRank(parameter) >= 2;
  return parameter.getTensorType().getRank() >= 2;
}

SmallVector<Value> UpdateBuilder::buildUpdate(OpBuilder &builder, Location location, unsigned index,
                                              ArrayRef<Value> state, ArrayRef<Value> scalars) {
  SmallVector<Type> types;
  for (VariableOp output : states[index].getOutputs())
    types.push_back(output.getTensorType());
  SmallVector<Value> operands(state);
  llvm::append_range(operands, scalars);
  SmallVector<NamedAttribute> attributes;
  if (hasDecay(index))
    attributes.push_back(builder.getNamedAttr("decay", builder.getUnitAttr()));
  Operation *op = adamw ? builder.create<AdamWOp>(location, types, operands, attributes).getOperation()
                        : builder.create<SgdOp>(location, types, operands, attributes).getOperation();
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
    if (FlatSymbolRefAttr bind = getVariable(argument))
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

SmallVector<UpdateBuilder::Part> UpdateBuilder::listParts(ArrayRef<unsigned> group, bool outputs) {
  SmallVector<Part> list;
  SmallVector<SmallVector<VariableOp>> variables;
  size_t most = 0;
  for (unsigned index : group) {
    variables.push_back(outputs ? states[index].getOutputs() : states[index].getInputs());
    most = std::max(most, variables.back().size());
  }
  for (unsigned part = 0; part < most; ++part)
    for (auto [position, each] : llvm::enumerate(variables))
      if (part < each.size())
        list.push_back({part, static_cast<unsigned>(position), each[part]});
  return list;
}

func::FuncOp UpdateBuilder::createLayerUpdate(StringRef name, ArrayRef<unsigned> group) {
  FunctionWriter writer(module, forward.getLoc(), name);
  writer.function.setPrivate();
  SmallVector<Values> state(group.size());
  llvm::DenseMap<Operation *, Value> arguments;
  for (auto &[part, position, variable] : listParts(group, /*outputs=*/false)) {
    Value argument =
        writer.addArgument(variable.getTensorType(), nullptr, getUpdateSharding(group[position]));
    state[position].push_back(argument);
    arguments[variable] = argument;
  }
  SmallVector<Value> local;
  for (Value scalar : scalars)
    local.push_back(writer.addArgument(scalar.getType(), nullptr, nullptr));
  SmallVector<Values> results;
  for (auto [values, index] : llvm::zip(state, group))
    results.push_back(buildUpdate(writer.builder, forward.getLoc(), index, values, local));
  for (auto &[part, position, variable] : listParts(group, /*outputs=*/true)) {
    // A parameter that is its master rounded is no argument.
    auto old = cast_if_present<BlockArgument>(arguments.lookup(variable));
    PlaceAttr alias = old ? PlaceAttr::ofAlias(writer.builder.getContext(), old.getArgNumber()) : PlaceAttr();
    writer.addResult(results[position][part], alias, getUpdateSharding(group[position]));
  }
  func::FuncOp function = writer.finish();
  symbols.insert(function);
  return function;
}

/// One function per layer and per set of types, shardings and decays of the parameters.
func::FuncOp UpdateBuilder::getLayerUpdate(StringRef layer, ArrayRef<unsigned> group) {
  std::string base =
      (layer.ends_with(".forward") ? layer.drop_back(strlen(".forward")) : layer).str() + ".update";
  std::string key = base;
  llvm::raw_string_ostream stream(key);
  for (unsigned index : group) {
    VariableOp parameter = states[index].parameter;
    stream << "|" << parameter.getTensorType() << hasDecay(index);
    for (VariableOp input : states[index].getInputs())
      stream << input.getTensorType().getElementType();
    if (ShardingAttr sharding = parameter.getComputeAttr())
      stream << sharding;
    if (ShardingAttr sharding = getUpdateSharding(index))
      stream << sharding;
  }
  func::FuncOp &function = layerUpdates[stream.str()];
  if (function)
    return function;
  std::string name = base;
  for (unsigned variant = 1; symbols.lookup(name); ++variant)
    name = base + "." + std::to_string(variant);
  return function = createLayerUpdate(name, group);
}

void UpdateBuilder::callLayerUpdate(OpBuilder &builder, CallOp call, ArrayRef<unsigned> group) {
  func::FuncOp function = getLayerUpdate(call.getCallee(), group);
  SmallVector<Value> operands;
  for (auto &[part, position, variable] : listParts(group, /*outputs=*/false))
    operands.push_back(arguments[group[position]][part]);
  llvm::append_range(operands, scalars);
  auto result =
      builder.create<CallOp>(call.getLoc(), function.getResultTypes(), function.getName(), operands);
  for (auto [number, output] : llvm::enumerate(listParts(group, /*outputs=*/true))) {
    updated[group[output.position]].push_back(result.getResult(number));
    if (ShardingAttr sharding = getResultSharding(function, number))
      setSharding(result.getResult(number), sharding);
  }
}

//===----------------------------------------------------------------------===//
// The chunk
//===----------------------------------------------------------------------===//

void UpdateBuilder::addArguments(FunctionWriter &update, llvm::function_ref<Value()> readNorm) {
  arguments.resize(states.size());
  for (auto &[part, position, variable] : listParts(listAll(), /*outputs=*/false))
    arguments[position].push_back(update.addArgument(variable));
  Value norm = readNorm();
  auto addInput = [&](InputKind input) {
    return update.addArgument(norm.getType(), PlaceAttr::ofInput(module.getContext(), input), nullptr);
  };
  SmallVector<InputKind> inputs = {InputKind::LearningRate, InputKind::WeightDecay};
  if (adamw)
    inputs = {InputKind::LearningRate, InputKind::Beta1, InputKind::Beta2, InputKind::Epsilon,
              InputKind::WeightDecay,  InputKind::Bias1, InputKind::Bias2};
  for (InputKind input : inputs)
    scalars.push_back(addInput(input));
  scalars.push_back(buildClipFactor(update.builder, forward.getLoc(), addInput(InputKind::Clip), norm));
}

void UpdateBuilder::build(FunctionWriter &update, llvm::function_ref<Value()> readNorm) {
  addArguments(update, readNorm);
  updated.resize(states.size());
  DenseMap<Operation *, SmallVector<unsigned>> groups = groupByCall();
  for (CallOp call : forward.getOps<CallOp>())
    if (auto group = groups.find(call); group != groups.end())
      callLayerUpdate(update.builder, call, group->second);
  for (unsigned index = 0; index < states.size(); ++index)
    if (updated[index].empty())
      updated[index] = buildUpdate(update.builder, forward.getLoc(), index, arguments[index], scalars);
  for (auto &[part, position, variable] : listParts(listAll(), /*outputs=*/true))
    update.addResult(variable, updated[position][part]);
}
