/// Which of the processor's units multiply bf16 numbers.
#ifndef PAR_CPU_UNITS_H
#define PAR_CPU_UNITS_H

namespace par::cpu {

/// How bf16 numbers are multiplied. Products of two of them are exact in f32 everywhere; what differs is how
/// they are summed up.
enum class Bf16Units {
  none, ///< widened to f32, one fused multiplication and addition per term
  dot,  ///< AVX512-BF16: two terms at a time, rounded once each, denormals taken as 0
  tiles ///< AMX-BF16: the same in tiles of 16 rows, 16 columns and 32 terms
};

/// The last of them that processor and operating system have. For AMX the operating system is asked at the
/// first call to keep the tiles' state, which holds for the process.
Bf16Units supportedBf16Units();

/// The fastest of those that the processor supports. Some have dot products that are slower than f32's
/// multiplications of the same terms (cpu/DotRate.h).
Bf16Units fastestBf16Units();
/// The same for a processor with that rate of vectors of dot products.
Bf16Units quickerUnits(Bf16Units supported, double dotsPerMultiplication);

/// What products use from now on: the fastest unless told otherwise. Not while one runs.
void useBf16Units(Bf16Units units);
Bf16Units usedBf16Units();

/// "none", "dot" or "tiles".
const char *nameOf(Bf16Units units);

} // namespace par::cpu
#endif
