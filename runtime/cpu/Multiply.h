#ifndef PAR_CPU_MULTIPLY_H
#define PAR_CPU_MULTIPLY_H

#include <cstdint>

namespace par::cpu {

/// Whether oneDNN's library is on this machine: the yardstick of profiles and benchmarks. It is opened at the
/// first call; nothing else of a run needs it.
bool hasLibrary();

/// Row-major C[m, n] = alpha op(A) op(B) + beta C by oneDNN, on the calling thread alone; ld = elements
/// between rows. With beta 0, C is not read. Only where `hasLibrary`; ends the process if oneDNN refuses.
void multiply(bool transposeA, bool transposeB, int64_t m, int64_t n, int64_t k, float alpha, const float *a,
              int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc);

} // namespace par::cpu
#endif
