//===- EmitForward.cpp - forward functions that return residuals ----------------------------------------===//
#include "Emitter.h"

using namespace mlir;
using namespace mlir::par;

/// Attributes of arguments, plain results, residuals and the losses, which stand in this order.
void Emitter::describeForward(func::FuncOp forward, ArrayRef<unsigned> losses) {
  func::FuncOp original = info.function;
  SmallVector<DictionaryAttr> inputs, outputs;
  for (unsigned index = 0; index < original.getNumArguments(); ++index)
    inputs.push_back(describeInput(Slot{Slot::Argument, index}, original.getArgument(index)));
  for (unsigned index = 0; index < original.getNumResults(); ++index)
    if (!llvm::is_contained(losses, index))
      outputs.push_back(NamedAttrList(original.getResultAttrDict(index)).getDictionary(builder.getContext()));
  for (auto [index, value] : llvm::enumerate(plan.getResiduals()))
    outputs.push_back(describeOutput(Slot{Slot::Residual, static_cast<unsigned>(index)}, value, {}));
  auto describe = [&](PlaceAttr place, unsigned loss) {
    NamedAttrList attributes;
    attributes.set(ParDialect::kPlaceAttr, place);
    if (ShardingAttr sharding = getDimensionSharding(getResultSharding(original, loss)))
      attributes.set(ParDialect::kShardingAttr, sharding);
    return attributes.getDictionary(builder.getContext());
  };
  if (!losses.empty())
    inputs.push_back(describe(PlaceAttr::ofInput(builder.getContext(), InputKind::Beta), losses.front()));
  for (unsigned loss : losses) {
    std::string variable = getLossVariable(getResultPlace(original, loss));
    inputs.push_back(
        describe(PlaceAttr::ofVariable(FlatSymbolRefAttr::get(builder.getContext(), variable)), loss));
    outputs.push_back(inputs.back());
  }
  forward.setAllArgAttrs(inputs);
  forward.setAllResultAttrs(outputs);
}

/// Returns `values`; the last ones, which are losses, as loss' = beta·loss + sum over this micro-batch.
void Emitter::returnForward(func::FuncOp forward, SmallVector<Value> values, size_t losses) {
  Block &entry = forward.getBody().front();
  OpBuilder at = OpBuilder::atBlockEnd(&entry);
  unsigned beta = info.function.getNumArguments();
  Location location = info.function.getLoc();
  for (auto [number, value] : llvm::enumerate(MutableArrayRef(values).take_back(losses))) {
    Value variable = entry.getArgument(beta + 1 + number);
    Value previous = at.create<arith::MulFOp>(location, entry.getArgument(beta), variable);
    value = at.create<arith::AddFOp>(location, previous, value);
  }
  at.create<func::ReturnOp>(info.function.getLoc(), values);
}

func::FuncOp Emitter::emitForward(StringRef name) {
  func::FuncOp original = info.function;
  SmallVector<unsigned> losses;
  SmallVector<Value> values;
  for (auto [index, value] : llvm::enumerate(joint.getResults()))
    if (info.isChunk && isLoss(original, index))
      losses.push_back(index);
    else
      values.push_back(value);
  values.append(plan.getResiduals().begin(), plan.getResiduals().end());
  SmallVector<Type> inputs(original.getArgumentTypes());
  for (unsigned loss : losses)
    values.push_back(joint.getResults()[loss]);
  if (!losses.empty())
    inputs.append(1 + losses.size(), values.back().getType());

  func::FuncOp forward = createFunction(name, inputs, ValueRange(values).getTypes());
  Block *entry = forward.addEntryBlock();
  IRMapping map;
  for (unsigned index = 0; index < original.getNumArguments(); ++index)
    map.map(joint.getBody().getArgument(index), entry->getArgument(index));
  for (Operation *op : joint.forwardOps)
    clearMarks(OpBuilder::atBlockEnd(entry).clone(*op, map));
  for (Value &value : values)
    value = map.lookup(value);
  describeForward(forward, losses);
  returnForward(forward, values, losses.size());
  if (info.isChunk)
    setPhase(forward, Phase::Forward, original);
  return forward;
}
