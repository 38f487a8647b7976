//===- KernelLimits.h - what a kernel moves, against what it may --------------------------------*- C++
//-*-===//
#ifndef PAR_TEST_UNIT_TARGET_KERNELLIMITS_H
#define PAR_TEST_UNIT_TARGET_KERNELLIMITS_H

#include "KernelCase.h"

namespace mlir::par {

/// Bytes moved by bytes needed, share of them that is moved 16 bytes at a time, share of what is fetched that
/// is used.
struct Traffic {
  double moved = 0, wide = 1, used = 1;

  void worsen(const Traffic &other) {
    moved = std::max(moved, other.moved);
    wide = std::min(wide, other.wide);
    used = std::min(used, other.used);
  }
};

/// A launch of the last emulation of a kernel. Tensors count that have at least half as many elements as the
/// largest one: what is smaller is read again by each row, and lies in a cache.
class LaunchLimits {
public:
  LaunchLimits(const KernelCase &one, size_t launch);

  std::string plan;
  int64_t row = 1;                 ///< elements of a row of the largest tensor
  bool isLimited = false;          ///< false: products bind it, or it moves a few bytes
  Traffic worst;                   ///< of any tensor
  std::vector<std::string> broken; ///< a line for each tensor beyond the limits

private:
  void judge(int64_t operand);
  double countNeeded(int64_t operand) const;

  const KernelCase &one;
  const size_t launch;
};

} // namespace mlir::par

#endif // PAR_TEST_UNIT_TARGET_KERNELLIMITS_H
