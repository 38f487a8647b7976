/// Random numbers that depend only on what they are for, never on who computes them or when
/// (docs/Package.md, "Random numbers"): Philox4x32-10 of Salmon et al., "Parallel random numbers: as easy as
/// 1, 2, 3", SC 2011.
#ifndef PAR_IO_PHILOX_H
#define PAR_IO_PHILOX_H

#include <cstdint>
#include <string_view>

namespace par::io {

struct PhiloxWords {
  uint32_t word[4];
};

/// Ten rounds on the counter (c0, c1, c2, c3) with the key (k0, k1).
inline PhiloxWords philox(uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3, uint32_t k0, uint32_t k1) {
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = uint64_t(0xD2511F53u) * c0;
    uint64_t p1 = uint64_t(0xCD9E8D57u) * c2;
    uint32_t n0 = uint32_t(p1 >> 32) ^ c1 ^ k0;
    uint32_t n2 = uint32_t(p0 >> 32) ^ c3 ^ k1;
    c1 = uint32_t(p1);
    c3 = uint32_t(p0);
    c0 = n0;
    c2 = n2;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

/// One step of Steele, Lea and Flood's SplitMix64 from the state x.
uint64_t splitmix64(uint64_t x);

/// Fowler-Noll-Vo 1a, 64 bits, of the bytes of `text`.
uint64_t fnv1a64(std::string_view text);

/// The key of a parameter's initial values: FNV-1a64(file name) xor splitmix64(seed).
uint64_t initialisationKey(std::string_view name, uint64_t seed);

/// Element j (of the file layout) of a normal(0, 1) tensor: with x = word 0 + 2^32 word 1, u1 = (floor(x /
/// 2^11) + 1) 2^-53, u2 alike from words 2 and 3, sqrt(-2 ln u1) cos(2 pi u2).
double initialNormal(uint64_t key, uint64_t j);

/// splitmix64(splitmix64(seed) + step); the low word is key word 0. Steps count from 1.
uint64_t dropoutKey(uint64_t seed, uint64_t step);

/// An element is dropped when word 0 of its Philox block is below this: the ceiling of p * 2^32, p taken as
/// f64.
uint64_t dropoutThreshold(double p);

/// Token t of the endless stream of uniform random tokens below `vocabulary`.
uint32_t randomToken(uint64_t seed, uint64_t t, uint32_t vocabulary);

} // namespace par::io
#endif
