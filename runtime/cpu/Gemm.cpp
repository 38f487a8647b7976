#include "cpu/Context.h"
#include "cpu/Multiply.h"

using namespace par::cpu;

/// C = beta * C, for products without terms.
static void scale(int64_t m, int64_t n, float beta, float *c, int64_t ldc) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      c[i * ldc + j] = beta == 0 ? 0 : beta * c[i * ldc + j];
}

extern "C" void par_gemm(void *context, int32_t transposeA, int32_t transposeB, int64_t m, int64_t n, int64_t k, void *a,
                         int64_t lda, int64_t strideA, void *b, int64_t ldb, int64_t strideB, float beta, void *c,
                         int64_t ldc, int64_t strideC, int64_t batch) {
  beat(context);
  for (int64_t i = 0; i < batch; ++i) {
    float *out = static_cast<float *>(c) + i * strideC;
    if (m == 0 || n == 0 || k == 0) {
      scale(m, n, beta, out, ldc);
      continue;
    }
    multiply(transposeA, transposeB, m, n, k, 1.0f, static_cast<float *>(a) + i * strideA, lda,
             static_cast<float *>(b) + i * strideB, ldb, beta, out, ldc);
  }
}
