/// Rows of bf16 to f32 and back, in vectors on every processor.
#ifndef PAR_CPU_BF16_H
#define PAR_CPU_BF16_H

#include <cstdint>
#include <cstring>

namespace par::cpu {

inline float widen(uint16_t word) {
  uint32_t bits = uint32_t(word) << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

void widenRow(const uint16_t *from, float *to, int64_t count);

/// To nearest, ties to even; a NaN stays one.
void roundRow(const float *from, uint16_t *to, int64_t count);

/// to = bf16(bf16(from) + bf16(beta * addend)): a sum whose terms are bf16 numbers themselves. `to` may be
/// `addend`.
void roundSumRow(const float *from, float beta, const uint16_t *addend, uint16_t *to, int64_t count);

} // namespace par::cpu
#endif
