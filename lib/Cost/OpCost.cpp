//===- OpCost.cpp - what running an op costs one rank ---------------------------------------------------===//
#include "par/Cost/OpCost.h"
#include "par/Dialect/Par/IR/Sizes.h"
#include "par/Sharding/ReshardCost.h"

using namespace mlir;
using namespace mlir::par;

static DimAxes getAxesOf(Value value) {
  if (ShardingAttr sharding = getSharding(value))
    return getDimAxes(sharding);
  return DimAxes(cast<RankedTensorType>(value.getType()).getRank());
}

/// Where a sum ends up that constraints alone use: they say whether it is reduced or reduce-scattered.
static DimAxes followConstraints(Value value) {
  while (value.hasOneUse() && isa<ConstrainOp>(*value.user_begin()))
    value = (*value.user_begin())->getResult(0);
  return getAxesOf(value);
}

/// The assignment of axes to factors that par-insert-reshards will choose, and what it moves.
static void addTraffic(Operation *op, RuleAttr rule, MeshAttr mesh, const DeviceRates &device, OpCost &cost) {
  ShardedOp sharded = describeOp(op, rule, mesh, device.getFlopsPerByte(), getAxesOf);
  FactorAxes factors = assignFactors(sharded);
  for (const Axes &axes : factors)
    cost.flops /= mesh.getSize(axes);
  for (auto [number, type] : llvm::enumerate(sharded.operandTypes))
    cost.gathered += getReshardBytes(type, sharded.operands[number], {},
                                     projectFactors(rule.getOperands()[number], factors), mesh);
  for (auto [number, type] : llvm::enumerate(sharded.resultTypes)) {
    DimAxes natural = projectFactors(rule.getResults()[number], factors);
    Axes pending = pendingAxes(rule, factors, number);
    if (pending.empty())
      cost.gathered += getReshardBytes(type, natural, {}, sharded.results[number], mesh);
    else
      cost.summed += getReshardBytes(type, natural, pending, followConstraints(op->getResult(number)), mesh);
  }
}

OpCost par::estimateCost(Operation *op, const DeviceRates &device) {
  MeshAttr mesh = getMesh(op);
  OpCost cost;
  // A constraint is not computed: it only says how its value lies.
  if (auto costed = dyn_cast<CostOpInterface>(op); costed && !isa<ConstrainOp>(op))
    cost.flops = costed.getFlops();
  for (Value operand : op->getOperands())
    cost.bytes += static_cast<double>(getLocalBytes(operand, mesh));
  for (Value result : op->getResults())
    cost.bytes += static_cast<double>(getLocalBytes(result, mesh));
  if (!mesh)
    return cost;
  if (auto constrain = dyn_cast<ConstrainOp>(op))
    cost.gathered = getReshardBytes(constrain.getType(), getAxesOf(constrain.getInput()), {},
                                    getAxesOf(constrain.getResult()), mesh);
  else if (auto collective = dyn_cast<CollectiveOpInterface>(op))
    cost.gathered = collective.getWireBytes(countMembers(collective, mesh));
  else if (auto rule = dyn_cast<ShardingRuleOpInterface>(op))
    addTraffic(op, rule.getShardingRule(), mesh, device, cost);
  return cost;
}

double par::getSeconds(const OpCost &cost, const DeviceRates &device) {
  double seconds = std::max(cost.flops / device.flops, cost.bytes / device.memory);
  for (double wire : {cost.gathered, cost.summed})
    if (wire > 0)
      seconds += device.latency + wire / device.link;
  return seconds;
}
