#include "par/io/Philox.h"
#include "par/io/TokenData.h"

namespace par::io {

/// A Feistel network of six rounds on 2·`bits` bits: a bijection whatever the round function is.
static uint64_t feistel(uint64_t value, int bits, uint64_t key) {
  uint64_t mask = (uint64_t(1) << bits) - 1, left = value >> bits, right = value & mask;
  for (uint32_t round = 0; round < 6; ++round) {
    PhiloxWords words =
        philox(uint32_t(right), uint32_t(right >> 32), round, 2, uint32_t(key), uint32_t(key >> 32));
    uint64_t next = left ^ (words.word[0] & mask);
    left = right;
    right = next;
  }
  return left << bits | right;
}

/// Walks along the bijection's cycle until it is below `count` again: needs no memory, and each element is
/// reached once. The network's domain is at most four times too large.
int64_t permuted(int64_t position, int64_t count, uint64_t key) {
  int bits = 1;
  while ((int64_t(1) << (2 * bits)) < count)
    ++bits;
  uint64_t value = uint64_t(position);
  do
    value = feistel(value, bits, key);
  while (value >= uint64_t(count));
  return int64_t(value);
}

int64_t windowAt(int64_t number, int64_t count, bool shuffle, uint64_t seed) {
  int64_t pass = number / count, window = number % count;
  return shuffle ? permuted(window, count, splitmix64((seed ^ fnv1a64("shuffle")) + uint64_t(pass))) : window;
}

} // namespace par::io
