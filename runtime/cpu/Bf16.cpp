#include "cpu/Bf16.h"

#include "cpu/Simd.h"

namespace par::cpu {

/// Without branches: a NaN is made quiet, which its upper half then shows.
static inline uint16_t narrow(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  uint32_t rounded = bits + 0x7FFFu + (bits >> 16 & 1u);
  return uint16_t((value != value ? bits | 0x400000u : rounded) >> 16);
}

PAR_CLONES void widenRow(const uint16_t *from, float *to, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = widen(from[i]);
}

PAR_CLONES void roundRow(const float *from, uint16_t *to, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = narrow(from[i]);
}

PAR_CLONES void roundSumRow(const float *from, float beta, const uint16_t *addend, uint16_t *to,
                            int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = narrow(widen(narrow(from[i])) + widen(narrow(beta * widen(addend[i]))));
}

} // namespace par::cpu
