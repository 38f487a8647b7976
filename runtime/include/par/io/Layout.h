/// How the elements of a rank's shard of a tensor lie in a tensor of files (docs/Package.md, "Sharding",
/// "Variables").
#ifndef PAR_IO_LAYOUT_H
#define PAR_IO_LAYOUT_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace par::io {

using Shape = std::vector<int64_t>;

/// Product of the dimensions; 1 for a scalar.
int64_t elementCount(const Shape &shape);

/// "[2, 3]"
std::string toString(const Shape &shape);

/// From `begin` up to `end`, by dimensions.
struct Ranges {
  Shape begin, end;

  Shape sizes() const;
};

/// "[0:2, 0:3]"
std::string toString(const Ranges &ranges);

/// The numbers of two that have elements in common.
std::optional<std::pair<size_t, size_t>> findOverlap(const std::vector<Ranges> &list);

struct TensorPart;

/// What a rank holds of a tensor: `local` elements per dimension from `begin` on. What lies beyond the tensor
/// is padding.
struct Shard {
  Shape local, begin;
};

/// The elements that a shard has of the part of a tensor that lies in one tensor of files.
struct ShardLayout {
  Shard shard;
  Shape begin;   ///< of these elements, counted from the shard's first
  Shape size;    ///< a 0 where the shard has none
  int64_t place; ///< of the first of them in the file
  Shape strides; ///< elements of the file between neighbours
};

ShardLayout layoutOf(const Shard &shard, const TensorPart &part);

/// One row of the shard without its padding: `count` elements, contiguous in the shard from `local`, in the
/// file from `file` with `stride` elements between neighbours.
struct ShardRow {
  int64_t local, file, stride, count;
};

/// Rows of the shard that are in the file.
int64_t rowCount(const ShardLayout &layout);

/// The `number`th of them, in the shard's order.
ShardRow rowAt(const ShardLayout &layout, int64_t number);

/// Calls `visit` for all of them, in that order.
void forEachRow(const ShardLayout &layout, const std::function<void(const ShardRow &)> &visit);

/// The tensor's index in its first dimension of the shard's element number `local`; 0 for a scalar.
int64_t firstIndex(const Shard &shard, int64_t local);

} // namespace par::io
#endif
