//===- CallDerivative.cpp - the backward of a call is a call of the callee's backward -------------------===//
#include "JointBuilder.h"

using namespace mlir;
using namespace mlir::par;

LogicalResult JointBuilder::differentiateCall(CallOp call, const Derivative &callee) {
  SmallVector<Value> weightResiduals;
  if (!split)
    return callBackward(call, callee, callee.backward, /*isWeightPart=*/false, weightResiduals);
  if (failed(callBackward(call, callee, callee.backwardInput, /*isWeightPart=*/false, weightResiduals)))
    return failure();
  return callBackward(call, callee, callee.backwardWeight, /*isWeightPart=*/true, weightResiduals);
}

/// One beta goes to all accumulators of a call. Where some have contributions already (tied weights) and some
/// not, or where not all have the same beta, they are multiplied here.
Value JointBuilder::chooseBeta(CallOp call, const DerivedFunction &backward) {
  SmallVector<unsigned> fresh;
  bool anyStarted = false;
  for (Slot slot : backward.inputs) {
    if (slot.kind != Slot::Accumulator)
      continue;
    unsigned argument = cast<BlockArgument>(call.getInputs()[slot.index]).getArgNumber();
    if (accumulators[argument].started)
      anyStarted = true;
    else
      fresh.push_back(argument);
  }
  Value common = fresh.empty() ? beta : getBeta(fresh.front());
  if (!anyStarted && llvm::all_of(fresh, [&](unsigned argument) { return getBeta(argument) == common; })) {
    for (unsigned argument : fresh)
      accumulators[argument].started = true;
    return common;
  }
  for (unsigned argument : fresh)
    applyBeta(argument);
  return buildSplat(builder, location, cast<RankedTensorType>(beta.getType()), 1.0);
}

Value JointBuilder::getCallOperand(CallOp call, const Derivative &callee, Slot slot, Value beta,
                                   ArrayRef<Value> weightResiduals) {
  switch (slot.kind) {
  case Slot::Argument:
    return call.getInputs()[slot.index];
  case Slot::Result:
    return call.getResult(slot.index);
  case Slot::Residual:
    return call.getResult(callee.numResults + slot.index);
  case Slot::WeightResidual:
    return weightResiduals[slot.index];
  case Slot::Cotangent: {
    Value result = call.getResult(slot.index);
    Value &cotangent = cotangents[result];
    if (!cotangent) {
      cotangent = buildSplat(builder, location, cast<RankedTensorType>(result.getType()), 0.0);
      shardLikeValue(cotangent, result);
    }
    return cotangent;
  }
  case Slot::Scale:
    return scale;
  case Slot::Beta:
    return beta;
  case Slot::Accumulator:
    return getStored(cast<BlockArgument>(call.getInputs()[slot.index]).getArgNumber());
  }
  llvm_unreachable("every kind is handled");
}

LogicalResult JointBuilder::callBackward(CallOp call, const Derivative &callee,
                                         const DerivedFunction &backward, bool isWeightPart,
                                         SmallVectorImpl<Value> &weightResiduals) {
  func::FuncOp function = backward.function;
  if (!function)
    return success();
  Value factor = chooseBeta(call, backward);
  if (Operation *made = factor.getDefiningOp(); isWeightPart && made)
    joint.weightOps.insert(made);
  SmallVector<Value> operands;
  for (Slot slot : backward.inputs)
    operands.push_back(getCallOperand(call, callee, slot, factor, weightResiduals));
  auto result = create<CallOp>(function.getResultTypes(), function.getName(), operands);
  if (isWeightPart)
    joint.weightOps.insert(result);
  for (auto [index, slot] : llvm::enumerate(backward.outputs)) {
    Value value = result.getResult(index);
    if (ShardingAttr sharding = getResultSharding(function, index)) {
      setSharding(value, sharding);
      sharded.insert(value);
    }
    if (slot.kind == Slot::Accumulator)
      accumulators[cast<BlockArgument>(call.getInputs()[slot.index]).getArgNumber()].current = value;
    else if (slot.kind == Slot::WeightResidual)
      weightResiduals.push_back(value);
    else if (Value operand = call.getInputs()[slot.index]; varied.contains(operand))
      if (failed(addCotangent(call, operand, value)))
        return failure();
  }
  return success();
}
