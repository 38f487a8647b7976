//===- ReshardCost.cpp - bytes that a change of sharding moves ------------------------------------------===//
#include "par/Sharding/ReshardCost.h"
#include "par/Dialect/Par/IR/Sizes.h"

using namespace mlir;
using namespace mlir::par;

/// Ranks over all axes that split a tensor.
static double countShards(const DimAxes &dims, MeshAttr mesh) {
  double shards = 1;
  for (const Axes &axes : dims)
    shards *= mesh.getSize(axes);
  return shards;
}

static bool contains(const DimAxes &dims, StringAttr axis) {
  return llvm::any_of(dims, [&](const Axes &axes) { return llvm::is_contained(axes, axis); });
}

double par::getReshardBytes(RankedTensorType type, const DimAxes &from, ArrayRef<StringAttr> unreduced,
                            const DimAxes &to, MeshAttr mesh) {
  double local = static_cast<double>(getTensorBytes(type)) / countShards(from, mesh), bytes = 0;
  auto fraction = [](double n) { return (n - 1) / n; };
  for (StringAttr axis : unreduced) {
    double n = mesh.getSize(axis.getValue());
    bool scatter = contains(to, axis);
    bytes += (scatter ? 1 : 2) * local * fraction(n);
    if (scatter)
      local /= n;
  }
  for (auto [dim, axes] : llvm::enumerate(from))
    for (auto [position, axis] : llvm::enumerate(axes)) {
      if (position < to[dim].size() && to[dim][position] == axis)
        continue;
      double n = mesh.getSize(axis.getValue());
      bool moves = contains(to, axis);
      bytes += moves ? local * fraction(n) : local * n * fraction(n);
      if (!moves)
        local *= n;
    }
  return bytes;
}
