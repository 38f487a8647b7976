/// How the elements of a rank's shard of a tensor lie in the tensor's file (docs/Package.md, "Sharding",
/// "Variables").
#ifndef PAR_IO_LAYOUT_H
#define PAR_IO_LAYOUT_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace par::io {

using Shape = std::vector<int64_t>;

/// Product of the dimensions; 1 for a scalar.
int64_t elementCount(const Shape &shape);

/// "[2, 3]"
std::string toString(const Shape &shape);

/// A file tensor is transpose(logical, permutation) reshaped: dimension i of the transposed tensor is
/// dimension permutation[i] of the logical one. A reshape keeps the order of the elements, so the place of a
/// logical element in the file is a sum of index times stride; these are the strides, one per logical
/// dimension, in elements.
Shape fileStrides(const Shape &logical, const std::vector<int64_t> &permutation);

/// The part of a logical tensor that a rank holds: `local` elements per dimension from `begin` on. What lies
/// beyond `logical` is padding.
struct ShardLayout {
  Shape logical, local, begin, strides;
};

/// One row of the shard without its padding: `count` elements, contiguous in the shard from `local`, in the
/// file from `file` with `stride` elements between neighbours.
struct ShardRow {
  int64_t local, file, stride, count;
};

/// Rows of the shard that hold more than padding.
int64_t rowCount(const ShardLayout &layout);

/// The `number`th of them, in the shard's order.
ShardRow rowAt(const ShardLayout &layout, int64_t number);

/// Calls `visit` for all of them, in that order.
void forEachRow(const ShardLayout &layout, const std::function<void(const ShardRow &)> &visit);

/// The index in the first logical dimension of the element at `place` of the file; 0 for a scalar.
int64_t firstIndex(const ShardLayout &layout, int64_t place);

} // namespace par::io
#endif
