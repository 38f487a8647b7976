//===- Bytes.cpp - sizes of memory as people write them -------------------------------------------------===//
#include "par/Support/Bytes.h"
#include "par/Support/MakeError.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir::par;

ByteUnit mlir::par::findByteUnit(int64_t most) {
  static constexpr llvm::StringLiteral names[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
  size_t unit = 0;
  for (; most >= 1024 && unit + 1 < std::size(names); ++unit)
    most /= 1024;
  return {names[unit], int64_t(1) << (10 * unit)};
}

std::string mlir::par::formatBytes(int64_t bytes) {
  ByteUnit unit = findByteUnit(bytes);
  if (unit.bytes == 1)
    return llvm::formatv("{0} {1}", bytes, unit.name);
  return llvm::formatv("{0:F2} {1}", static_cast<double>(bytes) / static_cast<double>(unit.bytes), unit.name);
}

std::string mlir::par::describeBytes(int64_t bytes) {
  std::string exact = std::to_string(bytes) + " bytes";
  return bytes < 1024 ? exact : exact + " (" + formatBytes(bytes) + ")";
}

llvm::Expected<int64_t> mlir::par::parseBytes(llvm::StringRef text) {
  llvm::StringRef number = text.take_while([](char c) { return llvm::isDigit(c) || c == '.'; });
  auto scale = llvm::StringSwitch<double>(text.drop_front(number.size()).trim().lower())
                   .Cases("", "b", "bytes", 1)
                   .Case("kib", 0x1p10)
                   .Case("mib", 0x1p20)
                   .Case("gib", 0x1p30)
                   .Case("tib", 0x1p40)
                   .Case("kb", 1e3)
                   .Case("mb", 1e6)
                   .Case("gb", 1e9)
                   .Case("tb", 1e12)
                   .Default(0);
  double value = 0;
  bool isNumber = !number.getAsDouble(value);
  if (!isNumber || scale == 0 || value * scale < 1 || value * scale > 0x1p62)
    return makeError(
        "\"" + text +
        "\" is no size of memory; give bytes, or a number with KiB, MiB, GiB, TiB, KB, MB, GB or TB");
  // Integers are exact beyond 2^53 too.
  int64_t exact = 0;
  if (scale == 1 && !number.getAsInteger(10, exact))
    return exact;
  return static_cast<int64_t>(std::floor(value * scale));
}
