//===- ReshardLowering.h - a change of sharding as collectives --------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_PARTITION_RESHARDLOWERING_H
#define PAR_LIB_TRANSFORMS_PARTITION_RESHARDLOWERING_H

#include "par/Sharding/FactorAssignment.h"

namespace mlir::par {

/// Turns one `par.reshard` into local ops and collectives. Order: reductions (scattered where the target
/// wants it), exchanges between dimensions, slices that shrink the data, gathers, the remaining slices.
class ReshardLowering {
public:
  /// `local` is this rank's shard of the reshard's operand.
  ReshardLowering(OpBuilder &builder, ReshardOp op, MeshAttr mesh, Value local);
  Value run();

private:
  int64_t rank() const { return current.size(); }
  ArrayRef<int64_t> shape() const { return cast<RankedTensorType>(value.getType()).getShape(); }
  RankedTensorType withDim(int64_t dim, int64_t size) const;
  ArrayAttr axesAttr(ArrayRef<StringAttr> axes);
  template <typename Op>
  void tag(Op op);

  void reduce();
  void scatterReduction(int64_t dim, Axes &pending);
  void exchange();
  std::pair<ArrayRef<StringAttr>, size_t> findExchanged(int64_t from, int64_t to) const;
  bool isWantedElsewhere(int64_t dim, ArrayRef<StringAttr> axes) const;
  bool exchangeBetween(int64_t from, int64_t to);
  Axes sliceMinor(int64_t dim, ArrayRef<StringAttr> axes);
  void gatherMinor(int64_t dim, int64_t blocks, ArrayRef<StringAttr> axes);
  void splitIntoBlocks(int64_t dim, int64_t blocks);
  bool splitsNow(StringAttr axis) const;
  void slice(int64_t dim);
  bool canSliceNow(int64_t dim) const;
  void gather(int64_t dim);
  void keepCoordinateZero(ArrayRef<StringAttr> axes);
  /// Cuts a whole dimension to its logical size and fills it with zeros up to the target's padded size.
  void resize(int64_t dim);
  /// Length of the axes that stay: the common prefix, or none if padding changes.
  size_t keptPrefix(int64_t dim) const;

  OpBuilder &builder;
  ReshardOp op;
  MeshAttr mesh;
  Value value;
  ShardingAttr source, target;
  DimAxes current, wanted;
  /// Padded global sizes, at present and in the end; sizes without padding.
  SmallVector<int64_t> padded, paddedWanted, logical;
};

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_PARTITION_RESHARDLOWERING_H
