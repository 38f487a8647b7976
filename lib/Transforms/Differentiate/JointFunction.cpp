//===- JointFunction.cpp - scratch functions and the weight part of their backward ops ------------------===//
#include "JointFunction.h"
#include "JointBuilder.h"

using namespace mlir;
using namespace mlir::par;

ShardingAttr par::getDimensionSharding(ShardingAttr sharding) {
  if (!sharding)
    return nullptr;
  return ShardingAttr::get(sharding.getContext(), sharding.getMesh(), sharding.getDims(), {}, {});
}

JointFunction::~JointFunction() {
  if (scratch)
    scratch.erase();
}

bool JointFunction::isOriginalArgument(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getArgNumber() < info.varied.size();
}

SmallVector<Operation *> JointFunction::getBackwardOps() {
  SmallVector<Operation *> ops;
  for (Operation &op : getBody().without_terminator())
    if (!forwardOps.contains(&op))
      ops.push_back(&op);
  return ops;
}

/// A call of the callee's forward function: the same results, then its residuals.
static Operation *replaceByForwardCall(CallOp call, const Derivative &callee, DenseSet<Value> &residuals) {
  func::FuncOp forward = callee.forward;
  OpBuilder builder(call);
  auto replacement =
      builder.create<CallOp>(call.getLoc(), forward.getResultTypes(), forward.getName(), call.getInputs());
  replacement->setDiscardableAttrs(call->getDiscardableAttrDictionary());
  if (auto shardings = call->getAttrOfType<ArrayAttr>(ParDialect::kShardingAttr)) {
    SmallVector<Attribute> entries(shardings.begin(), shardings.end());
    for (unsigned index = callee.numResults; index < forward.getNumResults(); ++index) {
      ShardingAttr sharding = getResultSharding(forward, index);
      auto type = cast<RankedTensorType>(forward.getResultTypes()[index]);
      entries.push_back(
          sharding ? sharding
                   : ShardingAttr::getReplicated(call.getContext(), getMeshName(call), type.getRank(), true));
    }
    replacement->setAttr(ParDialect::kShardingAttr, builder.getArrayAttr(entries));
  }
  for (unsigned index = 0; index < callee.numResults; ++index)
    call.getResult(index).replaceAllUsesWith(replacement.getResult(index));
  for (unsigned index = callee.numResults; index < forward.getNumResults(); ++index)
    residuals.insert(replacement.getResult(index));
  call.erase();
  return replacement;
}

LogicalResult JointFunction::build(const Activity &activity, const Derivatives &callees, bool split) {
  func::FuncOp original = info.function;
  OpBuilder builder(original->getContext());
  builder.setInsertionPointAfter(original);
  IRMapping mapping;
  scratch = cast<func::FuncOp>(builder.clone(*original, mapping));
  DenseMap<Operation *, const Derivative *> calls;
  for (Operation &op : original.getBody().front().without_terminator()) {
    Operation *clone = mapping.lookup(&op);
    if (activity.isActive(&op)) {
      const Derivative &callee = callees.find(cast<CallOp>(op).getCallee())->second;
      clone = replaceByForwardCall(cast<CallOp>(clone), callee, calleeResiduals);
      calls[clone] = &callee;
    }
    forwardOps.insert(clone);
  }
  return JointBuilder(*this, calls, split).run();
}
