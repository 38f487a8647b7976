#include "par/io/Philox.h"

#include <cmath>

namespace par::io {

uint64_t splitmix64(uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

uint64_t fnv1a64(std::string_view text) {
  uint64_t hash = 0xCBF29CE484222325ull;
  for (unsigned char c : text)
    hash = (hash ^ c) * 0x100000001B3ull;
  return hash;
}

uint64_t initialisationKey(std::string_view name, uint64_t seed) { return fnv1a64(name) ^ splitmix64(seed); }

static PhiloxWords draw(uint64_t key, uint64_t counter, uint32_t c2, uint32_t c3) {
  return philox(uint32_t(counter), uint32_t(counter >> 32), c2, c3, uint32_t(key), uint32_t(key >> 32));
}

/// In (0, 1], so that its logarithm is finite.
static double uniform(uint32_t low, uint32_t high) {
  uint64_t bits = uint64_t(low) | uint64_t(high) << 32;
  return double((bits >> 11) + 1) * 0x1p-53;
}

double initialNormal(uint64_t key, uint64_t j) {
  PhiloxWords words = draw(key, j, 0, 0);
  double radius = std::sqrt(-2.0 * std::log(uniform(words.word[0], words.word[1])));
  return radius * std::cos(2.0 * M_PI * uniform(words.word[2], words.word[3]));
}

uint64_t dropoutKey(uint64_t seed, uint64_t step) { return splitmix64(splitmix64(seed) + step); }

uint64_t dropoutThreshold(double p) { return uint64_t(std::ceil(p * 0x1p32)); }

uint32_t randomToken(uint64_t seed, uint64_t t, uint32_t vocabulary) {
  PhiloxWords words = draw(splitmix64(seed ^ fnv1a64("data")), t, 0, 1);
  return uint32_t(uint64_t(words.word[0]) * vocabulary >> 32);
}

} // namespace par::io
