//===- PictureTicks.cpp - round numbers on the axes of pictures -----------------------------------------===//
#include "par/Emit/PictureTicks.h"
#include "par/Support/Bytes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir::par;

/// The least of 1, 2 and 5 times a power of ten that is no less.
static double roundUp(double value) {
  double power = std::pow(10, std::floor(std::log10(value)));
  for (double step : {1, 2, 5})
    if (value <= step * power * (1 + 1e-9))
      return step * power;
  return 10 * power;
}

/// Values are in the unit, of which `most` are drawn.
static std::vector<PictureTick> chooseTicks(double most, int count, double unit, const char *name) {
  std::vector<PictureTick> ticks{{0, "0"}};
  if (!(most > 0))
    return ticks;
  double step = roundUp(most / count);
  for (int number = 1; number * step <= most * (1 + 1e-9); ++number) {
    std::string label;
    llvm::raw_string_ostream(label) << llvm::format("%.10g ", number * step) << name;
    ticks.push_back({number * step * unit, label});
  }
  return ticks;
}

std::vector<PictureTick> mlir::par::chooseByteTicks(double most, int count) {
  ByteUnit unit = findByteUnit(static_cast<int64_t>(most));
  double size = static_cast<double>(unit.bytes);
  return chooseTicks(most / size, count, size, unit.name.data());
}

std::vector<PictureTick> mlir::par::chooseSecondTicks(double most, int count) {
  static constexpr std::pair<double, const char *> units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}};
  const auto *unit = llvm::find_if(units, [&](auto &unit) { return most >= unit.first; });
  auto [size, name] = unit == std::end(units) ? units[2] : *unit;
  return chooseTicks(most / size, count, size, name);
}
