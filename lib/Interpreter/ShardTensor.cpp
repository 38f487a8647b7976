//===- ShardTensor.cpp - global tensors to shards and back ----------------------------------------------===//
#include "par/Interpreter/ShardTensor.h"
#include "par/Interpreter/Topology.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::par;

static SmallVector<StringRef> getAxisNames(ArrayRef<StringAttr> axes) {
  return llvm::to_vector(llvm::map_range(axes, [](StringAttr axis) { return axis.getValue(); }));
}

/// Global index of element 0 of the shard of `rank`.
static SmallVector<int64_t> getBegin(ShardingAttr sharding, MeshAttr mesh, int64_t rank,
                                     ArrayRef<int64_t> local) {
  SmallVector<int64_t> begin;
  for (auto [dim, size] : llvm::enumerate(local))
    begin.push_back(getMemberNumber(mesh, rank, getAxisNames(sharding.getAxes(dim))) * size);
  return begin;
}

/// Elements of the shard that are not padding, per dimension.
static SmallVector<int64_t> getValid(ArrayRef<int64_t> global, ArrayRef<int64_t> begin,
                                     ArrayRef<int64_t> local) {
  SmallVector<int64_t> valid;
  for (auto [whole, first, size] : llvm::zip(global, begin, local))
    valid.push_back(std::clamp<int64_t>(whole - first, 0, size));
  return valid;
}

std::vector<Tensor> par::shardTensor(const Tensor &global, ShardingAttr sharding, MeshAttr mesh,
                                     RankedTensorType localType) {
  if (!localType)
    localType = sharding.getLocalType(global.type, mesh);
  SmallVector<StringRef> unreduced = getAxisNames(sharding.getUnreduced());
  SmallVector<int64_t> origin(global.rank(), 0);
  std::vector<Tensor> shards;
  for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank) {
    Tensor &shard = shards.emplace_back(localType);
    if (getMemberNumber(mesh, rank, unreduced) != 0)
      continue;
    SmallVector<int64_t> begin = getBegin(sharding, mesh, rank, localType.getShape());
    SmallVector<int64_t> valid = getValid(global.shape(), begin, localType.getShape());
    if (!llvm::is_contained(valid, 0))
      copyBlock(global, begin, shard, origin, valid);
  }
  return shards;
}

static double difference(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b)))
    return 0.0;
  double delta = std::abs(a - b);
  return std::isnan(delta) ? std::numeric_limits<double>::infinity() : delta;
}

/// Largest absolute value outside of the first `valid` elements of every dimension.
static double getPadding(const Tensor &shard, ArrayRef<int64_t> valid) {
  double largest = 0.0;
  int64_t position = 0;
  if (shard.shape() == valid)
    return largest;
  forEachIndex(shard.shape(), [&](ArrayRef<int64_t> index) {
    double value = shard.values[position++];
    if (llvm::any_of(llvm::zip(index, valid),
                     [](auto pair) { return std::get<0>(pair) >= std::get<1>(pair); }))
      largest = std::max(largest, difference(value, 0.0));
  });
  return largest;
}

UnshardedTensor par::unshardTensor(ArrayRef<Tensor> shards, ShardingAttr sharding, MeshAttr mesh,
                                   RankedTensorType type) {
  UnshardedTensor result;
  result.value = Tensor(type);
  // Ranks that differ only on replicated axes hold one tensor: the first of them counts.
  SmallVector<StringRef> unreduced = getAxisNames(sharding.getUnreduced()), replicated;
  SmallVector<StringAttr> sharded = sharding.getShardedAxes();
  for (StringAttr axis : mesh.getNames())
    if (!llvm::is_contained(sharded, axis) && !llvm::is_contained(sharding.getUnreduced(), axis))
      replicated.push_back(axis.getValue());
  SmallVector<int64_t> origin(type.getRank(), 0);
  for (ArrayRef<int64_t> group : getGroups(mesh, replicated)) {
    const Tensor &first = shards[group.front()];
    for (int64_t rank : group.drop_front())
      for (auto [a, b] : llvm::zip(first.values, shards[rank].values))
        result.replicaDifference = std::max(result.replicaDifference, difference(a, b));
    SmallVector<int64_t> begin = getBegin(sharding, mesh, group.front(), first.shape());
    SmallVector<int64_t> valid = getValid(type.getShape(), begin, first.shape());
    result.padding = std::max(result.padding, getPadding(first, valid));
    if (llvm::is_contained(valid, 0))
      continue;
    Tensor block(type.clone(valid)), sum(type.clone(valid));
    copyBlock(first, origin, block, origin, valid);
    copyBlock(result.value, begin, sum, origin, valid);
    for (auto [total, value] : llvm::zip(sum.values, block.values))
      total += value;
    copyBlock(sum, origin, result.value, begin, valid);
  }
  return result;
}
