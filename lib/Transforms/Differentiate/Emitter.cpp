//===- Emitter.cpp - writes derived functions out of a joint function -----------------------------------===//
#include "Emitter.h"

using namespace mlir;
using namespace mlir::par;

Emitter::Emitter(JointFunction &joint, const SavePlan &plan)
    : joint(joint), plan(plan), info(joint.info), builder(joint.scratch->getContext()) {}

func::FuncOp Emitter::createFunction(StringRef name, TypeRange inputs, TypeRange results) {
  func::FuncOp original = info.function;
  builder.setInsertionPoint(original);
  auto function =
      builder.create<func::FuncOp>(original.getLoc(), name, builder.getFunctionType(inputs, results));
  if (!info.isChunk)
    function.setPrivate();
  return function;
}

//===----------------------------------------------------------------------===//
// Backward functions
//===----------------------------------------------------------------------===//

Operation *Emitter::appendClone(Operation *op) {
  // The block is in no function yet, so it cannot be asked for its context.
  OpBuilder at(op->getContext());
  at.setInsertionPointToEnd(block);
  return at.clone(*op, mapping);
}

/// The value in the function being written: an argument, or recomputed just before its first use.
Value Emitter::materialise(Value value, const DenseMap<Value, Slot> &handedOver) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  std::optional<Slot> slot = plan.find(value);
  if (auto other = handedOver.find(value); other != handedOver.end())
    slot = other->second;
  if (slot) {
    Value argument = block->addArgument(value.getType(), value.getLoc());
    mapping.map(value, argument);
    requested.emplace_back(*slot, value);
    return argument;
  }
  // SavePlan has proved that what is not saved may be recomputed.
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    materialise(operand, handedOver);
  clearMarks(appendClone(op));
  return mapping.lookup(value);
}

DerivedFunction Emitter::emit(StringRef name, Phase phase, ArrayRef<Operation *> ops,
                              ArrayRef<Output> outputs, const DenseMap<Value, Slot> &handedOver) {
  Block body;
  block = &body;
  mapping.clear();
  requested.clear();
  for (Operation *op : ops) {
    for (Value operand : op->getOperands())
      materialise(operand, handedOver);
    appendClone(op);
  }
  SmallVector<Value> results;
  for (const Output &output : outputs)
    results.push_back(materialise(output.second, handedOver));

  SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(0, requested.size()));
  llvm::sort(order, [&](unsigned a, unsigned b) { return requested[a].first < requested[b].first; });
  SmallVector<Type> inputTypes;
  for (unsigned position : order)
    inputTypes.push_back(body.getArgument(position).getType());

  DerivedFunction derived;
  derived.function = createFunction(name, inputTypes, ValueRange(results).getTypes());
  Block *entry = derived.function.addEntryBlock();
  SmallVector<DictionaryAttr> inputAttributes, outputAttributes;
  IRMapping entryValues;
  for (auto [index, position] : llvm::enumerate(order)) {
    body.getArgument(position).replaceAllUsesWith(entry->getArgument(index));
    entryValues.map(body.getArgument(position), entry->getArgument(index));
    derived.inputs.push_back(requested[position].first);
    inputAttributes.push_back(describeInput(requested[position].first, requested[position].second));
  }
  for (Value &result : results)
    result = entryValues.lookupOrDefault(result);
  entry->getOperations().splice(entry->end(), body.getOperations());
  OpBuilder::atBlockEnd(entry).create<func::ReturnOp>(info.function.getLoc(), results);
  for (const Output &output : outputs) {
    derived.outputs.push_back(output.first);
    outputAttributes.push_back(describeOutput(output.first, output.second, derived.inputs));
  }
  derived.function.setAllArgAttrs(inputAttributes);
  derived.function.setAllResultAttrs(outputAttributes);
  if (info.isChunk)
    setPhase(derived.function, phase, info.function);
  block = nullptr;
  return derived;
}

DerivedFunction Emitter::emitBackward(StringRef name) {
  return emit(name, Phase::Backward, joint.getBackwardOps(), joint.outputs, DenseMap<Value, Slot>());
}

//===----------------------------------------------------------------------===//
// Split backward
//===----------------------------------------------------------------------===//

/// What the weight part uses and cannot take from where the input part takes it: cotangents and recomputed
/// values.
llvm::SetVector<Value> Emitter::collectHandedOver(ArrayRef<Operation *> weightOps,
                                                  ArrayRef<Output> weightOutputs) {
  llvm::SetVector<Value> values;
  auto visit = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (op && joint.weightOps.contains(op))
      return;
    if (std::optional<Slot> slot = plan.find(value)) {
      // What a chunk received from the next one is gone when its weight part runs.
      if (info.isChunk && slot->kind == Slot::Cotangent)
        values.insert(value);
      return;
    }
    if (!plan.isFree(value))
      values.insert(value);
  };
  for (Operation *op : weightOps)
    llvm::for_each(op->getOperands(), visit);
  for (const Output &output : weightOutputs)
    visit(output.second);
  return values;
}

void Emitter::emitSplit(StringRef inputName, StringRef weightName, DerivedFunction &input,
                        DerivedFunction &weight) {
  SmallVector<Operation *> inputOps, weightOps;
  for (Operation *op : joint.getBackwardOps())
    (joint.weightOps.contains(op) ? weightOps : inputOps).push_back(op);
  SmallVector<Output> inputOutputs, accumulators, weightOutputs;
  for (const Output &output : joint.outputs) {
    if (info.weight[output.first.index])
      weightOutputs.push_back(output);
    else
      (output.first.kind == Slot::Cotangent ? inputOutputs : accumulators).push_back(output);
  }
  DenseMap<Value, Slot> handedOver;
  for (auto [index, value] : llvm::enumerate(collectHandedOver(weightOps, weightOutputs))) {
    Slot slot{Slot::WeightResidual, static_cast<unsigned>(index)};
    handedOver.try_emplace(value, slot);
    inputOutputs.emplace_back(slot, value);
  }
  inputOutputs.append(accumulators);
  if (info.isChunk || !inputOutputs.empty())
    input = emit(inputName, Phase::BackwardInput, inputOps, inputOutputs, DenseMap<Value, Slot>());
  if (info.isChunk || !weightOutputs.empty())
    weight = emit(weightName, Phase::BackwardWeight, weightOps, weightOutputs, handedOver);
}

//===----------------------------------------------------------------------===//
// Attributes of arguments and results
//===----------------------------------------------------------------------===//

PlaceAttr Emitter::getAccumulator(unsigned argument) {
  FlatSymbolRefAttr bind = getVariable(info.function, argument);
  return PlaceAttr::ofVariable(
      FlatSymbolRefAttr::get(bind.getContext(), (bind.getValue() + ".accumulator").str()));
}

/// Sharding with which a slot crosses a function's boundary, null if its value has none.
ShardingAttr Emitter::getSlotSharding(Slot slot, Value value, bool isInput) {
  func::FuncOp original = info.function;
  if (slot.kind == Slot::Cotangent && isInput)
    return getDimensionSharding(getResultSharding(original, slot.index));
  if (slot.kind == Slot::Accumulator && info.accumulatorStorage[slot.index])
    return info.accumulatorStorage[slot.index];
  if (slot.kind == Slot::Cotangent || slot.kind == Slot::Accumulator)
    return getDimensionSharding(getSharding(original.getArgument(slot.index)));
  return joint.addedArguments.contains(value) ? nullptr : getSharding(value);
}

DictionaryAttr Emitter::describeInput(Slot slot, Value value) {
  NamedAttrList attributes;
  if (slot.kind == Slot::Argument) {
    attributes = info.function.getArgAttrDict(slot.index);
    attributes.erase(ParDialect::kSaveAttr);
    return attributes.getDictionary(builder.getContext());
  }
  if (ShardingAttr sharding = getSlotSharding(slot, value, /*isInput=*/true))
    attributes.set(ParDialect::kShardingAttr, sharding);
  if (info.isChunk && slot.kind == Slot::Scale)
    attributes.set(ParDialect::kPlaceAttr,
                   slot.index ? PlaceAttr::ofLossWeight(getResultPlace(info.function, slot.index - 1))
                              : PlaceAttr::ofInput(builder.getContext(), InputKind::LossScale));
  else if (info.isChunk && slot.kind == Slot::Beta)
    attributes.set(
        ParDialect::kPlaceAttr,
        PlaceAttr::ofInput(builder.getContext(), slot.index ? InputKind::SharedBeta : InputKind::Beta));
  else if (info.isChunk && slot.kind == Slot::Accumulator)
    attributes.set(ParDialect::kPlaceAttr, getAccumulator(slot.index));
  else if (info.isChunk && slot.kind == Slot::Cotangent)
    attributes.set(ParDialect::kPlaceAttr, getResultPlace(info.function, slot.index));
  else if (info.isChunk && (slot.kind == Slot::Residual || slot.kind == Slot::WeightResidual))
    attributes.set(ParDialect::kPlaceAttr, getResidual(slot));
  return attributes.getDictionary(builder.getContext());
}

DictionaryAttr Emitter::describeOutput(Slot slot, Value value, ArrayRef<Slot> inputs) {
  NamedAttrList attributes;
  if (ShardingAttr sharding = getSlotSharding(slot, value, /*isInput=*/false))
    attributes.set(ParDialect::kShardingAttr, sharding);
  if (slot.kind == Slot::Accumulator && info.isChunk)
    attributes.set(ParDialect::kPlaceAttr, getAccumulator(slot.index));
  else if (slot.kind == Slot::Accumulator)
    attributes.set(
        ParDialect::kPlaceAttr,
        PlaceAttr::ofAlias(builder.getContext(), std::distance(inputs.begin(), llvm::find(inputs, slot))));
  else if (info.isChunk && slot.kind == Slot::Cotangent)
    attributes.set(ParDialect::kPlaceAttr, getPlace(info.function, slot.index));
  else if (info.isChunk)
    attributes.set(ParDialect::kPlaceAttr, getResidual(slot));
  return attributes.getDictionary(builder.getContext());
}

/// What the input part hands to the weight part is numbered behind what the forward pass saved.
PlaceAttr Emitter::getResidual(Slot slot) {
  unsigned offset = slot.kind == Slot::WeightResidual ? plan.getResiduals().size() : 0;
  return PlaceAttr::ofResidual(builder.getContext(), offset + slot.index);
}
