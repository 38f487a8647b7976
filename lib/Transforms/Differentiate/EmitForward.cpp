//===- EmitForward.cpp - forward functions that return residuals ----------------------------------------===//
#include "Emitter.h"

using namespace mlir;
using namespace mlir::par;

/// Attributes of arguments, plain results, residuals and the loss, which stand in this order.
void Emitter::describeForward(func::FuncOp forward, std::optional<unsigned> loss) {
  func::FuncOp original = info.function;
  SmallVector<DictionaryAttr> inputs, outputs;
  for (unsigned index = 0; index < original.getNumArguments(); ++index)
    inputs.push_back(describeInput(Slot{Slot::Argument, index}, original.getArgument(index)));
  for (unsigned index = 0; index < original.getNumResults(); ++index)
    if (index != loss)
      outputs.push_back(NamedAttrList(original.getResultAttrDict(index)).getDictionary(builder.getContext()));
  for (auto [index, value] : llvm::enumerate(plan.getResiduals()))
    outputs.push_back(describeOutput(Slot{Slot::Residual, static_cast<unsigned>(index)}, value, {}));
  if (loss) {
    NamedAttrList beta, state;
    beta.set(ParDialect::kPlaceAttr, PlaceAttr::ofInput(builder.getContext(), InputKind::Beta));
    state.set(ParDialect::kPlaceAttr,
              PlaceAttr::ofVariable(FlatSymbolRefAttr::get(builder.getContext(), kLossVariable)));
    if (ShardingAttr sharding = getDimensionSharding(getResultSharding(original, *loss))) {
      beta.set(ParDialect::kShardingAttr, sharding);
      state.set(ParDialect::kShardingAttr, sharding);
    }
    inputs.append({beta.getDictionary(builder.getContext()), state.getDictionary(builder.getContext())});
    outputs.push_back(inputs.back());
  }
  forward.setAllArgAttrs(inputs);
  forward.setAllResultAttrs(outputs);
}

/// Returns `values`; the last one, if it is the loss, as loss' = beta·loss + sum over this micro-batch.
void Emitter::returnForward(func::FuncOp forward, SmallVector<Value> values, bool hasLoss) {
  Block &entry = forward.getBody().front();
  OpBuilder at = OpBuilder::atBlockEnd(&entry);
  if (hasLoss) {
    unsigned beta = info.function.getNumArguments();
    Location location = info.function.getLoc();
    Value previous = at.create<arith::MulFOp>(location, entry.getArgument(beta), entry.getArgument(beta + 1));
    values.back() = at.create<arith::AddFOp>(location, previous, values.back());
  }
  at.create<func::ReturnOp>(info.function.getLoc(), values);
}

func::FuncOp Emitter::emitForward(StringRef name) {
  func::FuncOp original = info.function;
  std::optional<unsigned> loss =
      info.isChunk ? findResult(original, PlaceAttr::ofOutput(builder.getContext(), OutputKind::Loss))
                   : std::nullopt;
  SmallVector<Value> values;
  for (auto [index, value] : llvm::enumerate(joint.getResults()))
    if (index != loss)
      values.push_back(value);
  values.append(plan.getResiduals().begin(), plan.getResiduals().end());
  SmallVector<Type> inputs(original.getArgumentTypes());
  if (loss) {
    values.push_back(joint.getResults()[*loss]);
    inputs.append(2, values.back().getType());
  }

  func::FuncOp forward = createFunction(name, inputs, ValueRange(values).getTypes());
  Block *entry = forward.addEntryBlock();
  IRMapping map;
  for (unsigned index = 0; index < original.getNumArguments(); ++index)
    map.map(joint.getBody().getArgument(index), entry->getArgument(index));
  for (Operation *op : joint.forwardOps)
    clearMarks(OpBuilder::atBlockEnd(entry).clone(*op, map));
  for (Value &value : values)
    value = map.lookup(value);
  describeForward(forward, loss);
  returnForward(forward, values, loss.has_value());
  if (info.isChunk)
    setPhase(forward, Phase::Forward, original);
  return forward;
}
