#ifndef PAR_CPU_MULTIPLY_H
#define PAR_CPU_MULTIPLY_H

#include <cstdint>

namespace par::cpu {

/// Row-major C[m, n] = alpha op(A) op(B) + beta C by oneDNN; ld = elements between rows. With beta 0, C is
/// not read. Ends the process if oneDNN refuses.
void multiply(bool transposeA, bool transposeB, int64_t m, int64_t n, int64_t k, float alpha, const float *a,
              int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc);

} // namespace par::cpu
#endif
