#include "par/io/FloatTypes.h"

#include <cmath>
#include <cstring>

namespace par::io {

static uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

static float floatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

float halfToFloat(uint16_t half) {
  uint32_t sign = uint32_t(half & 0x8000u) << 16, exponent = (half >> 10) & 31u, fraction = half & 1023u;
  if (exponent == 0) {
    float value = std::ldexp(float(fraction), -24);
    return sign ? -value : value;
  }
  return floatOf(sign | (exponent == 31 ? 0x7F800000u : (exponent + 112) << 23) | fraction << 13);
}

float bfloatToFloat(uint16_t word) { return floatOf(uint32_t(word) << 16); }

/// The upper bits of `bits` without its lowest `count`, rounded to nearest even.
static uint32_t roundedShift(uint32_t bits, int count) {
  uint32_t half = 1u << (count - 1);
  return (bits + half - 1 + ((bits >> count) & 1u)) >> count;
}

uint16_t floatToHalf(float value) {
  uint32_t bits = bitsOf(value), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u)
    return uint16_t(sign | 0x7E00u);
  if (magnitude >= 0x47800000u) // 65536 and more
    return uint16_t(sign | 0x7C00u);
  if (magnitude >= 0x38800000u) // normal; rounding may carry into the exponent, up to infinity
    return uint16_t(sign | (roundedShift(magnitude, 13) - (112u << 10)));
  // Adding 1/2 makes the addition round to multiples of 2^-24, a subnormal's unit.
  return uint16_t(sign | (bitsOf(floatOf(magnitude) + 0.5f) - bitsOf(0.5f)));
}

uint16_t floatToBfloat(float value) {
  uint32_t bits = bitsOf(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u)
    return uint16_t(bits >> 16 | 0x40u);
  return uint16_t(roundedShift(bits, 16));
}

} // namespace par::io
