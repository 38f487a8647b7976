//===- Sharing.h - how the parts of a kernel share its work -----------------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_KERNELS_SHARING_H
#define PAR_LIB_TARGET_KERNELS_SHARING_H

#include <cstdint>

namespace mlir::par {

/// A part is what one thread computes: of few on a processor, of thousands on a GPU.
struct Sharing {
  /// Rows of a nest that are enough for all parts: with fewer, more of its dimensions are shared.
  int64_t enoughRows;
  /// Columns whose sums a part keeps on its stack.
  int64_t roomColumns;
  /// Rows are shared element by element where nothing is summed up for a row: innermost loops are not for
  /// vectors.
  bool sharesElements;
  /// Part p of n computes numbers p, p + n, …: neighbours touch neighbouring memory at a time. Else a range of
  /// numbers.
  bool isStrided = false;
  /// Bytes of consecutive elements that a part computes before it writes any of them, where single elements
  /// are shared: one access to memory each for those of a buffer. 0: element by element.
  int64_t accessBytes = 0;
};

} // namespace mlir::par

#endif // PAR_LIB_TARGET_KERNELS_SHARING_H
