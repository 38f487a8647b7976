/// Loops written in vectors whose length is that of the processor, chosen at start-up.
///
/// A kernel is a template over `Lanes<bytes>` that is inlined whole into one function per processor level
/// (PAR_LEVELS). Helpers take vectors by reference: a vector by value would have another calling convention
/// at each level.
#ifndef PAR_CPU_LANES_H
#define PAR_CPU_LANES_H

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

/// The version for this processor.
template <typename Function>
Function *chooseLevel(Function *base, Function *v3, Function *v4) {
#ifdef PAR_SANITIZE // one version is instrumented
  return (void)v3, (void)v4, base;
#else
  return __builtin_cpu_supports("x86-64-v4") ? v4 : __builtin_cpu_supports("x86-64-v3") ? v3 : base;
#endif
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
  static void name(Argument argument) {                                                                      \
    static auto *const chosen = chooseLevel(&name##V2, &name##V3, &name##V4);                                \
    chosen(argument);                                                                                        \
  }

#endif
