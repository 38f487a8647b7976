/// How quick AVX512-BF16 is on this processor.
#ifndef PAR_CPU_DOTRATE_H
#define PAR_CPU_DOTRATE_H

namespace par::cpu {

/// Vectors of dot products of bf16 pairs (vdpbf16ps) that the processor computes in the time of one vector of
/// f32 multiplications and additions: 1/4 on Emerald Rapids, by measurement. Above 1/2 the dot products,
/// which do two terms each, are quicker. Takes half a millisecond; only where the processor has them.
double dotsPerMultiplication();

} // namespace par::cpu
#endif
