//===- Layout.h - dimensions of which a rank holds several blocks ------------------------*- C++ -*-===//
#ifndef PAR_LIB_JUDGE_LAYOUT_H
#define PAR_LIB_JUDGE_LAYOUT_H

#include "Held.h"

namespace mlir::par {

/// A map of a rank's tensor, digit by digit. The index of a dimension of the one-device value is written in
/// mixed radix; a digit is a coordinate of the mesh, or an index of the rank's tensor, whose dimensions
/// consist of such digits in turn. So exchanges, transposes and reshapes move digits, whatever blocks they
/// make.
class Layout {
public:
  /// The tensor's dimensions are those of the value, cut by their axes. `type` is the tensor's.
  Layout(const Held &held, RankedTensorType type, MeshAttr mesh);

  /// Dimension i becomes what dimension `permutation[i]` was.
  void transpose(ArrayRef<int64_t> permutation);
  /// Regroups the elements in row-major order; false if a dimension would begin inside a digit.
  bool reshape(ArrayRef<int64_t> shape);
  /// Every rank keeps one block of a dimension; false if it has no such blocks.
  bool cut(int64_t dim, ArrayRef<StringAttr> axes);
  /// Lets blocks of the ranks follow each other in a dimension; where ranks do not differ these are copies.
  bool join(int64_t dim, ArrayRef<StringAttr> axes);
  /// Each block along `split` goes to another rank, where they follow each other along `concat`.
  bool exchange(int64_t split, int64_t concat, ArrayRef<StringAttr> axes);

  /// Finds the dimension of the value that each of the tensor's is, behind its axes; none if some is not one
  /// whole dimension.
  std::optional<SmallVector<int64_t>> findDims() const;
  /// Dimension `dim` of the value.
  HeldDim getDim(int64_t dim) const;

private:
  struct Digit {
    int64_t extent;
    StringAttr axis;     ///< null: an index of the rank's tensor
    bool isFree = false; ///< of no dimension: the tensor is the same at all its values
  };
  using Digits = SmallVector<int64_t, 4>; ///< by number, major first

  int64_t add(int64_t extent, StringAttr axis) {
    digits.push_back({extent, axis});
    return static_cast<int64_t>(digits.size()) - 1;
  }
  /// Makes two of a digit, of which the major one has `major` values and keeps the number; the other's
  /// number.
  int64_t divide(int64_t digit, int64_t major);
  /// Takes the major `axes` from a dimension of the tensor; none if it cannot be cut so.
  std::optional<Digits> take(int64_t dim, ArrayRef<StringAttr> axes);
  int64_t findAxis(StringAttr axis) const;

  MeshAttr mesh;
  SmallVector<HeldDim> info; ///< size and padding of the value's dimensions
  SmallVector<Digit> digits;
  SmallVector<Digits> value, local; ///< digits of the value's dimensions, and of the tensor's
};

/// A tensor of which a rank holds several blocks, as digits of a value.
struct Blocks {
  Layout layout;
  Number of;
};

} // namespace mlir::par

#endif // PAR_LIB_JUDGE_LAYOUT_H
