//===- Number.cpp - an element of a tensor as a number of a field ---------------------------------------===//
#include "Number.h"
#include "llvm/Support/xxhash.h"
#include <cmath>

using namespace mlir::par;

static uint64_t reduce(uint64_t value) {
  value = (value & Number::kPrime) + (value >> 61);
  return value >= Number::kPrime ? value - Number::kPrime : value;
}

static uint64_t multiply(uint64_t a, uint64_t b) {
  unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return reduce(static_cast<uint64_t>(product & Number::kPrime) + static_cast<uint64_t>(product >> 61));
}

static uint64_t power(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent; exponent >>= 1, base = multiply(base, base))
    if (exponent & 1)
      result = multiply(result, base);
  return result;
}

Number Number::ofInteger(int64_t value) {
  Number number;
  uint64_t magnitude = value < 0 ? uint64_t(0) - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  number.residues.fill(reduce(magnitude));
  return value < 0 ? Number() - number : number;
}

Number Number::ofFloat(double value) {
  if (!std::isfinite(value))
    return RandomFunction("not finite").add(std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf").get();
  int exponent = 0;
  auto mantissa = static_cast<int64_t>(std::ldexp(std::frexp(value, &exponent), 53));
  exponent -= 53;
  Number two = ofInteger(2), scale = ofInteger(1), factor = exponent < 0 ? two.inverse() : two;
  for (int step = 0; step < std::abs(exponent); ++step)
    scale = scale * factor;
  return ofInteger(mantissa) * scale;
}

Number Number::operator+(const Number &other) const {
  Number result;
  for (size_t i = 0; i < residues.size(); ++i)
    result.residues[i] = reduce(residues[i] + other.residues[i]);
  return result;
}

Number Number::operator-(const Number &other) const {
  Number result;
  for (size_t i = 0; i < residues.size(); ++i)
    result.residues[i] = reduce(residues[i] + kPrime - other.residues[i]);
  return result;
}

Number Number::operator*(const Number &other) const {
  Number result;
  for (size_t i = 0; i < residues.size(); ++i)
    result.residues[i] = multiply(residues[i], other.residues[i]);
  return result;
}

Number Number::inverse() const {
  Number result;
  for (size_t i = 0; i < residues.size(); ++i)
    result.residues[i] = power(residues[i], kPrime - 2);
  return result;
}

RandomFunction &RandomFunction::add(llvm::StringRef text) {
  words.push_back(text.size());
  words.push_back(llvm::xxh3_64bits(text));
  return *this;
}

RandomFunction &RandomFunction::add(const Number &number) {
  words.append(number.residues.begin(), number.residues.end());
  return *this;
}

Number RandomFunction::get() const {
  Number number;
  llvm::SmallVector<uint64_t, 24> salted(words);
  salted.push_back(0);
  for (size_t i = 0; i < number.residues.size(); ++i) {
    salted.back() = i + 1;
    auto *bytes = reinterpret_cast<const uint8_t *>(salted.data());
    number.residues[i] = reduce(llvm::xxh3_64bits(llvm::ArrayRef(bytes, salted.size() * sizeof(uint64_t))));
  }
  return number;
}
