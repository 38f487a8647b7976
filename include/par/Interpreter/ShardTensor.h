//===- ShardTensor.h - global tensors to shards and back --------------------------------------*- C++ -*-===//
#ifndef PAR_INTERPRETER_SHARDTENSOR_H
#define PAR_INTERPRETER_SHARDTENSOR_H

#include "par/Dialect/Par/IR/ParAttributes.h"
#include "par/Interpreter/Tensor.h"

namespace mlir::par {

/// The shards of `global` on all ranks of the mesh, in rank order. The shard of a dimension begins at its
/// local size times the row-major coordinate over the dimension's axes; what lies beyond the global size is
/// zero. Over unreduced axes coordinate 0 holds the value and the others zeros. `localType` is the type of a
/// shard where dimensions are padded beyond ⌈n/k⌉; null = ⌈n/k⌉.
std::vector<Tensor> shardTensor(const Tensor &global, ShardingAttr sharding, MeshAttr mesh,
                                RankedTensorType localType = {});

/// A tensor put together from its shards, and how far the shards keep their promises.
struct UnshardedTensor {
  Tensor value;
  /// Largest difference between a replica and the first copy of the same shard; infinite where only one is a
  /// NaN.
  double replicaDifference = 0.0;
  /// Largest absolute value in the padding.
  double padding = 0.0;
};

/// The inverse of `shardTensor`, of any shards: sums over unreduced axes, takes the first of replicas, cuts
/// padding.
UnshardedTensor unshardTensor(ArrayRef<Tensor> shards, ShardingAttr sharding, MeshAttr mesh,
                              RankedTensorType type);

} // namespace mlir::par

#endif // PAR_INTERPRETER_SHARDTENSOR_H
