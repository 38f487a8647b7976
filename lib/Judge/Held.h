//===- Held.h - what a rank holds of a one-device value, and where -------------------------*- C++ -*-===//
#ifndef PAR_LIB_JUDGE_HELD_H
#define PAR_LIB_JUDGE_HELD_H

#include "Number.h"
#include "par/Dialect/Par/IR/Par.h"
#include "llvm/ADT/MapVector.h"
#include <memory>
#include <optional>

namespace mlir::par {

using Axes = SmallVector<StringAttr, 2>;

/// One dimension of a one-device value, as ranks hold it: cut over `axes`, major first, into shards
/// that follow each other; what lies beyond `size` is padding.
struct HeldDim {
  /// The padding holds zeros, −∞, or anything.
  enum class Padding { Zero, NegativeInfinity, Any };
  static constexpr int64_t kUnbounded = -1;

  int64_t size = kUnbounded; ///< of the one-device value; unbounded: of a value that has every index (iota)
  Axes axes;
  Padding padding = Padding::Any;
  bool isConstant = false; ///< every index has the same elements, so that any shard is any other
};

/// An integer that follows from index and coordinates: constant + Σ a coefficient · index or coordinate.
struct Affine {
  int64_t constant = 0;
  llvm::SmallDenseMap<int64_t, int64_t, 2> ofDims; ///< by dimension of the tensor
  llvm::SmallMapVector<StringAttr, int64_t, 2> ofAxes;
  bool isConstant() const { return ofDims.empty() && ofAxes.empty(); }
};

/// True where the index of a dimension, that of the one-device value, is below a bound.
struct IndexBelow {
  int64_t dim, bound;
};

struct Blocks;

/// A rank's tensor: what it is, and where.
struct Held {
  Number what; ///< which value of the one-device program it is
  SmallVector<HeldDim> dims;
  Axes pending;    ///< over these the value is the sum of the ranks' tensors
  Axes logPending; ///< over these it is the logarithm of the sum of their exponentials
  Axes extreme;    ///< over these it is an extremum of the ranks' tensors
  ReduceKind extremeKind = ReduceKind::Max; ///< maximum or minimum; of no meaning where `extreme` is empty
  /// The tensor follows from the rank's coordinates on these axes in a way that is no shard: it is no value
  /// of one device.
  Axes coordinates;
  std::optional<Affine> affine;
  std::optional<IndexBelow> below;
  Axes first; ///< a condition is true on the ranks whose coordinates on these axes are 0
  /// Each says the same in another way: digits of a value that are no dimensions of it yet.
  SmallVector<std::shared_ptr<const Blocks>, 1> blocks;
  bool hasDims = true; ///< false: `what` and `dims` say nothing, `blocks` alone do
  /// The tensor is a list of offsets, one per dimension: each is moved by so much on this rank, beside
  /// `what`.
  SmallVector<Affine, 0> shifts;

  /// Whether it is zero everywhere, padding included.
  bool isZero() const {
    auto hasZeros = [](const HeldDim &dim) {
      return dim.isConstant || dim.padding == HeldDim::Padding::Zero;
    };
    return hasDims && what == Number() && coordinates.empty() && shifts.empty() &&
           llvm::all_of(dims, hasZeros);
  }
  /// Zeros are the same along all dimensions, of whatever size, however they are cut.
  void spreadZeros() {
    for (HeldDim &dim : dims)
      if (isZero())
        dim = HeldDim(), dim.isConstant = true;
  }
  /// Whether ranks that differ over `axis` hold different shards, terms or numbers.
  bool dependsOn(StringAttr axis) const;
  /// Forgets what was known of integers and conditions, after a change of where they are.
  void dropFacts();
};

/// The axes over which ranks differ: one of size 1 cuts nothing, and nothing is pending over it.
Axes dropTrivial(ArrayRef<StringAttr> axes, MeshAttr mesh);

/// `"dp", "tp"`, or `no axis`.
std::string quote(ArrayRef<StringAttr> axes);

inline int64_t countShards(const HeldDim &dim, MeshAttr mesh) { return mesh.getSize(dim.axes); }

/// Whether shards of `extent` elements have padding.
inline bool isPadded(const HeldDim &dim, int64_t extent, MeshAttr mesh) {
  return !dim.isConstant && dim.size != HeldDim::kUnbounded && extent * countShards(dim, mesh) > dim.size;
}

} // namespace mlir::par

#endif // PAR_LIB_JUDGE_HELD_H
