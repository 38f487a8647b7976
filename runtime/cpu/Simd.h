/// Hot loops are compiled for several processor levels and chosen at load; everything else is baseline.
#ifndef PAR_CPU_SIMD_H
#define PAR_CPU_SIMD_H

// Sanitizers start after the resolvers that choose the clone have run, so instrumented builds have one
// version.
#ifdef PAR_SANITIZE
#define PAR_CLONES
#else
#define PAR_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#endif

#include <cstdint>
#include <cstring>

namespace par::cpu {

/// exp(x) for x <= 88 to about 2 units in the last place, 0 below -87; vectorises. Cephes' expf: 2^n times a
/// polynomial on
/// [-ln 2 / 2, ln 2 / 2].
__attribute__((always_inline)) inline float fastExp(float x) {
  constexpr float magic =
      12582912.0f; // 1.5 * 2^23: adding it rounds to an integer, which the low bits then hold
  float shifted = x * 1.44269504088896341f + magic;
  int32_t bits;
  std::memcpy(&bits, &shifted, 4);
  float n = shifted - magic;
  float r = x - n * 0.693359375f + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  uint32_t powerBits = (uint32_t(bits) + 127u) << 23; // the magic number's own low bits are zero
  float power;
  std::memcpy(&power, &powerBits, 4);
  return x < -87.0f ? 0.0f : p * power;
}

} // namespace par::cpu
#endif
