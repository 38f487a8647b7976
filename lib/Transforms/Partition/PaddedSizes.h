//===- PaddedSizes.h - how large dimensions are with their padding ----------------------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_PARTITION_PADDEDSIZES_H
#define PAR_LIB_TRANSFORMS_PARTITION_PADDEDSIZES_H

#include "SameDims.h"
#include <map>

namespace mlir::par {

/// Sizes with padding: multiples of the shards; and rows of matrices that products read or write (the logits)
/// multiples of `rowElements` in every shard, as long as that makes them at most an eighth longer.
class PaddedSizes {
public:
  PaddedSizes(ModuleOp module, MeshAttr mesh, int64_t rowElements);

  bool isPadded(Value value, unsigned dim) const;
  /// True if any value of the module is.
  bool padAny(ModuleOp module) const;
  /// True where there is more padding than shards need.
  bool hasLongRows(Value value, unsigned dim) const;
  /// The shape of `value`, of the logical type it still has, in `sharding`.
  SmallVector<int64_t> getShape(Value value, ShardingAttr sharding) const;

  /// `built` has the dimensions of `like`.
  void addLike(Value built, Value like);
  /// Rows of this dimension are as their shardings have them from now on; false if they are already.
  bool giveUpRows(Value value, unsigned dim);

private:
  struct Row {
    int64_t size, shards; ///< without padding; into how many every product finds it cut
  };
  std::map<SameDims::Key, Row> findRows(ModuleOp module) const;
  /// The logical size, or that of long rows, of which shards are cut.
  int64_t getWhole(Value value, unsigned dim) const;

  MeshAttr mesh;
  std::optional<SameDims> dims;          ///< where there may be longer rows
  std::map<SameDims::Key, int64_t> rows; ///< whole lengths of those that are longer
};

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_PARTITION_PADDEDSIZES_H
