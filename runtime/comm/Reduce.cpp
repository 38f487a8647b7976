#include "comm/Reduce.h"

#include <cstring>

namespace par::comm {

uint16_t roundToBf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  if (value != value)
    return uint16_t(bits >> 16 | 0x40);
  return uint16_t((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

float widenBf16(uint16_t value) {
  uint32_t bits = uint32_t(value) << 16;
  float wide;
  std::memcpy(&wide, &bits, 4);
  return wide;
}

template <typename T>
static void combine(Op op, T *into, const T *other, int64_t count) {
  // The comparisons keep a NaN of either side.
  if (op == Op::sum)
    for (int64_t i = 0; i < count; ++i)
      into[i] += other[i];
  else if (op == Op::max)
    for (int64_t i = 0; i < count; ++i)
      into[i] = into[i] > other[i] || into[i] != into[i] ? into[i] : other[i];
  else
    for (int64_t i = 0; i < count; ++i)
      into[i] = into[i] < other[i] || into[i] != into[i] ? into[i] : other[i];
}

void Accumulator::start(const void *source, int64_t count) {
  if (type != Type::bf16) {
    std::memcpy(values, source, size_t(count * bytesOf(type)));
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    reinterpret_cast<float *>(values)[i] = widenBf16(static_cast<const uint16_t *>(source)[i]);
}

void Accumulator::add(const void *source, int64_t count) {
  switch (type) {
  case Type::f32:
    return combine(op, reinterpret_cast<float *>(values), static_cast<const float *>(source), count);
  case Type::i32:
    return combine(op, reinterpret_cast<int32_t *>(values), static_cast<const int32_t *>(source), count);
  case Type::i64:
    return combine(op, reinterpret_cast<int64_t *>(values), static_cast<const int64_t *>(source), count);
  case Type::bf16:
    break;
  }
  float wide[256];
  for (int64_t begin = 0; begin < count; begin += 256) {
    int64_t part = count - begin < 256 ? count - begin : 256;
    for (int64_t i = 0; i < part; ++i)
      wide[i] = widenBf16(static_cast<const uint16_t *>(source)[begin + i]);
    combine(op, reinterpret_cast<float *>(values) + begin, wide, part);
  }
}

const void *Accumulator::finish(int64_t count) {
  if (type == Type::bf16) // element i is written below where element i is read, so nothing is lost
    for (int64_t i = 0; i < count; ++i) {
      float wide;
      std::memcpy(&wide, values + 4 * i, 4);
      uint16_t rounded = roundToBf16(wide);
      std::memcpy(values + 2 * i, &rounded, 2);
    }
  return values;
}

} // namespace par::comm
