//===- DeviceMath.h - a function of numbers as device code, executed -----------------------*- C++ -*-===//
#ifndef PAR_TEST_UNIT_TARGET_DEVICEMATH_H
#define PAR_TEST_UNIT_TARGET_DEVICEMATH_H

#include <string>
#include <vector>

namespace mlir::par {

/// What `code` makes of the elements of `x` and `y`, which have one size: MLIR that computes %r, an f32, of
/// %a and %b, lowered for a GPU and emulated; `inBf16`: as in kernels of which a buffer has bf16.
std::vector<float> computeOnDevice(const std::string &code, std::vector<float> x, std::vector<float> y,
                                   bool inBf16 = false);

} // namespace mlir::par

#endif // PAR_TEST_UNIT_TARGET_DEVICEMATH_H
