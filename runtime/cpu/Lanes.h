/// Loops written in vectors whose length is that of the processor, chosen at start-up.
///
/// A kernel is a template over `Lanes<bytes>` that is inlined whole into one function per processor level
/// (PAR_LEVELS). Helpers take vectors by reference: a vector by value would have another calling convention
/// at each level.
#ifndef PAR_CPU_LANES_H
#define PAR_CPU_LANES_H

#include "cpu/Levels.h"

#include <cstdint>

#define PAR_INLINE __attribute__((always_inline)) inline

namespace par::cpu {

template <int bytes>
struct Lanes {
  using Floats = float __attribute__((vector_size(bytes)));
  using Ints = int32_t __attribute__((vector_size(bytes)));
  using Words = uint16_t __attribute__((vector_size(bytes / 2)));
  static constexpr int64_t width = bytes / 4;
  static constexpr int64_t registers = bytes == 64 ? 32 : 16;
};

template <typename Vector, typename T>
PAR_INLINE void load(Vector &vector, const T *from) {
  __builtin_memcpy(&vector, from, sizeof(Vector));
}

template <typename Vector, typename T>
PAR_INLINE void store(const Vector &vector, T *to) {
  __builtin_memcpy(to, &vector, sizeof(Vector));
}

/// The larger one of each pair.
template <typename Vector>
PAR_INLINE void maximize(Vector &a, const Vector &b) {
  a = b > a ? b : a;
}

/// x = exp(x) for x <= 88 to about 2 units in the last place, 0 below -87. Cephes' expf: 2^n times a
/// polynomial on [-ln 2 / 2, ln 2 / 2].
template <typename L>
PAR_INLINE void exponential(typename L::Floats &x) {
  using Floats = typename L::Floats;
  using Ints = typename L::Ints;
  // 1.5 * 2^23: adding it rounds to an integer, which the low bits then hold.
  constexpr float magic = 12582912.0f;
  Floats shifted = x * 1.44269504088896341f + magic;
  Floats n = shifted - magic;
  Floats r = x - n * 0.693359375f + n * 2.12194440e-4f;
  Floats p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  Ints power = ((Ints)shifted + 127) << 23; // the magic number's own low bits are zero
  Floats result = p * (Floats)power;
  x = x < -87.0f ? Floats{} : result;
}

/// x = tanh(x), off by less than 1e-6 of it: x times a quotient of polynomials in x², fitted to the least
/// largest relative error on [0, 8.4]. From there on tanh is 1 but for 1e-7. A NaN stays one.
template <typename L>
PAR_INLINE void hyperbolicTangent(typename L::Floats &x) {
  using Floats = typename L::Floats;
  constexpr float end = 8.4f;
  x = x > end ? Floats{} + end : x;
  x = x < -end ? Floats{} - end : x;
  Floats u = x * x;
  Floats p = u * 2.125450980e-11f - 1.391228745e-8f;
  p = p * u + 9.634875257e-6f;
  p = p * u + 2.960366972e-3f;
  p = p * u + 1.295586438e-1f;
  p = p * u + 9.999999694e-1f;
  Floats q = u * 2.336119208e-4f + 2.392466850e-2f;
  q = q * u + 4.628917071e-1f;
  q = q * u + 1.0f;
  x *= p / q;
}

/// The version for the level in use.
template <typename Function>
Function *chooseLevel(Function *base, Function *v3, Function *v4) {
  switch (usedLevel()) {
  case Level::v4:
    return v4;
  case Level::v3:
    return v3;
  case Level::base:
    return base;
  }
  __builtin_unreachable();
}

} // namespace par::cpu

/// Defines `static void name(argument)`, which calls `body<Lanes<…>>(argument)`, inlined into a function of
/// the processor's level.
#define PAR_LEVELS(name, body, Argument)                                                                     \
  static void name##V2(Argument argument) { body<Lanes<16>>(argument); }                                     \
  __attribute__((target("arch=x86-64-v3"))) static void name##V3(Argument argument) {                        \
    body<Lanes<32>>(argument);                                                                               \
  }                                                                                                          \
  __attribute__((target("arch=x86-64-v4"), min_vector_width(512))) static void name##V4(Argument argument) { \
    body<Lanes<64>>(argument);                                                                               \
  }                                                                                                          \
  static void name(Argument argument) { chooseLevel(&name##V2, &name##V3, &name##V4)(argument); }

#endif
