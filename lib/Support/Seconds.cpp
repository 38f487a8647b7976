//===- Seconds.cpp - times as people write them ---------------------------------------------------------===//
#include "par/Support/Seconds.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using llvm::formatv;

std::string mlir::par::formatSeconds(double seconds) {
  double size = std::abs(seconds);
  if (size == 0)
    return "0 s";
  if (size >= 1)
    return formatv("{0:f3} s", seconds);
  return size >= 1e-3 ? formatv("{0:f2} ms", 1e3 * seconds) : formatv("{0:f1} µs", 1e6 * seconds);
}
