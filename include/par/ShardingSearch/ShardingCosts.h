//===- ShardingCosts.h - seconds of a step by the layouts of its tensors ----------------------*- C++ -*-===//
#ifndef PAR_SHARDINGSEARCH_SHARDINGCOSTS_H
#define PAR_SHARDINGSEARCH_SHARDINGCOSTS_H

#include "par/Cost/OpCost.h"
#include "par/ShardingSearch/ShardingProblem.h"

namespace mlir::par {

/// Every term by which layouts are weighed. A change of layout takes latency + ring bytes / link
/// (ReshardCost.h), an op the longer of arithmetic and memory.
class ShardingCosts {
public:
  ShardingCosts(const ShardingProblem &problem, const DeviceRates &rates);

  /// Of an op's alternative, in all passes and calls of a step.
  double getWork(const OpChoice &op, size_t alternative) const;
  /// Of bringing a tensor from one layout into another, once.
  double getTransfer(const TensorValue &value, Layout from, Layout to) const;
  /// Of gathering gradients of a group's parameters and updating them, as far as a rank holds them.
  double getUpdate(const TensorGroup &group, Layout layout) const;
  /// Bytes of a group's parameters that a rank holds.
  double getHeldBytes(const TensorGroup &group, Layout layout) const;

private:
  double getExchange(double wireBytes) const;

  const ShardingProblem &problem;
  const DeviceRates rates;
  MeshAttr mesh;
};

/// What an operand is read as: a partial gradient is of a whole operand.
inline Layout getReadLayout(Layout layout) { return layout == kPartial ? kWhole : layout; }

/// Whether propagation would let the pair stand: an op splits what it can where a tensor is split, and an
/// open tensor is split where an op splits it.
bool isConsistent(const OpChoice &op, const Access &access, const TensorGroup &group, Layout accessed,
                  Layout layout);

} // namespace mlir::par

#endif // PAR_SHARDINGSEARCH_SHARDINGCOSTS_H
