//===- Packing.h - offsets for buffers of known lifetime --------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_LOWER_PACKING_H
#define PAR_LIB_TRANSFORMS_LOWER_PACKING_H

#include <cstdint>
#include <vector>

namespace mlir::par {

/// A buffer that is live at the points begin … end, both included.
struct Interval {
  int64_t bytes = 0;
  int64_t begin = 0, end = 0;
  int64_t offset = -1; ///< set by packIntervals
};

struct Packing {
  int64_t peak = 0;       ///< highest end of any buffer, unaligned
  int64_t lowerBound = 0; ///< most bytes live at one point
};

/// Gives every interval a multiple of `alignment` such that no two that are live together overlap. In a given
/// order each takes the lowest offset that is free over its lifetime; largest first (the greedy-by-size strategy
/// of Pisarchyk and Lee, 2001.03288) is tried first, other orders where it leaves more than a 500th unused.
Packing packIntervals(std::vector<Interval> &intervals, int64_t alignment);

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_LOWER_PACKING_H
