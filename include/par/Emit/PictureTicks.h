//===- PictureTicks.h - round numbers on the axes of pictures ---------------------------------*- C++ -*-===//
#ifndef PAR_EMIT_PICTURETICKS_H
#define PAR_EMIT_PICTURETICKS_H

#include <cstdint>
#include <string>
#include <vector>

namespace mlir::par {

struct PictureTick {
  double value;
  std::string label;
};

/// From 0 to `most`, in steps of 1, 2 or 5 times a power of ten of a unit ("20 GiB", "500 ms"): at most
/// `count` steps, and more than a third as many.
std::vector<PictureTick> chooseByteTicks(double most, int count);
std::vector<PictureTick> chooseSecondTicks(double most, int count);

} // namespace mlir::par

#endif // PAR_EMIT_PICTURETICKS_H
