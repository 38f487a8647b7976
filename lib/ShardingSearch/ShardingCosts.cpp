//===- ShardingCosts.cpp - seconds of a step by the layouts of its tensors ------------------------------===//
#include "par/ShardingSearch/ShardingCosts.h"
#include "par/Dialect/Par/IR/Sizes.h"
#include "par/Sharding/ReshardCost.h"

using namespace mlir;
using namespace mlir::par;

/// Bytes that are read and written per element of a parameter and step, in f32: its gradient is added to an
/// accumulator (3), and AdamW reads parameter, gradient and two moments and writes all but the gradient (7).
static constexpr double kStateBytes = 4 * (3 + 7);

ShardingCosts::ShardingCosts(const ShardingProblem &problem, const DeviceRates &rates)
    : problem(problem), rates(rates),
      mesh(MeshAttr::get(problem.axis.getContext(), {problem.axis}, {problem.ranks})) {}

double ShardingCosts::getExchange(double wireBytes) const {
  return wireBytes > 0 ? rates.latency + wireBytes / rates.link : 0;
}

double ShardingCosts::getWork(const OpChoice &op, size_t alternative) const {
  double local = std::max(op.flops[alternative] / rates.flops, op.bytes[alternative] / rates.memory);
  auto ranks = static_cast<double>(problem.ranks);
  double exchanged = getExchange(2 * op.exchanged[alternative] * (ranks - 1) / ranks);
  return op.weight * (op.passes * local + exchanged);
}

double ShardingCosts::getTransfer(const TensorValue &value, Layout from, Layout to) const {
  if (from == to)
    return 0;
  auto getDims = [&](Layout layout) {
    DimAxes dims(value.type.getRank());
    if (layout >= 0)
      dims[layout].push_back(problem.axis);
    return dims;
  };
  Axes unreduced;
  if (from == kPartial)
    unreduced.push_back(problem.axis);
  return getExchange(getReshardBytes(value.type, getDims(from), unreduced, getDims(to), mesh));
}

/// What a rank holds of `type`, of the rank that holds most.
static double getShare(RankedTensorType type, Layout layout, int64_t ranks) {
  if (layout < 0)
    return 1;
  int64_t size = type.getDimSize(layout);
  return static_cast<double>(llvm::divideCeil(size, ranks)) / static_cast<double>(size);
}

double ShardingCosts::getUpdate(const TensorGroup &group, Layout layout) const {
  double elements = 0;
  for (VariableOp variable : group.parameters)
    elements += static_cast<double>(variable.getTensorType().getNumElements()) *
                getShare(variable.getTensorType(), layout, problem.ranks);
  return elements * kStateBytes / rates.memory;
}

double ShardingCosts::getHeldBytes(const TensorGroup &group, Layout layout) const {
  double bytes = 0;
  for (VariableOp variable : group.parameters)
    bytes += static_cast<double>(getTensorBytes(variable.getTensorType())) *
             getShare(variable.getTensorType(), layout, problem.ranks);
  return bytes;
}

bool par::isConsistent(const OpChoice &op, const Access &access, const TensorGroup &group, Layout accessed,
                       Layout layout) {
  if (accessed >= 0)
    return !group.isOpen || layout != kWhole;
  if (accessed == kPartial || layout == kWhole)
    return true;
  bool isWholeOnlyUnsplit = llvm::all_of(
      llvm::enumerate(access.layouts), [](auto each) { return each.value() != kWhole || each.index() == 0; });
  return !isWholeOnlyUnsplit || !llvm::is_contained(access.layouts, layout);
}
