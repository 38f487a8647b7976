#include "cpu/BlockedProduct.h"
#include "cpu/Context.h"
#include "cpu/Dot.h"

using namespace par::cpu;

/// A product whose C is one element: a dot product, whose digits count.
static void computeDot(Pool *pool, const par_product &p) {
  double sum = dot(pool, p.k, p.a, p.transpose_a ? p.lda : 1, p.b, p.transpose_b ? 1 : p.ldb);
  *p.c = float(p.beta == 0 ? sum : sum + double(p.beta) * double(*p.addend));
}

extern "C" void par_gemm(void *context, int32_t transposeA, int32_t transposeB, int64_t m, int64_t n,
                         int64_t k, void *a, int64_t lda, int64_t strideA, void *b, int64_t ldb,
                         int64_t strideB, float beta, void *addend, void *c, int64_t ldc, int64_t strideC,
                         int64_t batch) {
  beat(context);
  Pool *pool = poolOf(context);
  auto product = [&](int64_t i) {
    return par_product{transposeA,
                       transposeB,
                       m,
                       n,
                       k,
                       static_cast<float *>(a) + i * strideA,
                       lda,
                       static_cast<float *>(b) + i * strideB,
                       ldb,
                       beta,
                       static_cast<float *>(addend) + i * strideC,
                       static_cast<float *>(c) + i * strideC,
                       ldc};
  };
  auto multiply = [&](int64_t i, Pool *threads) {
    par_product single = product(i);
    multiplyBlocked(threads, &single, 1);
  };
  if (m == 1 && n == 1)
    for (int64_t i = 0; i < batch; ++i)
      computeDot(pool, product(i));
  else if (pool && batch >= pool->size() && m * n * k * batch >= 2 * worthAThread)
    runItems(pool, batch, [&](int64_t i) { multiply(i, nullptr); });
  else
    for (int64_t i = 0; i < batch; ++i)
      multiply(i, pool);
}

extern "C" void par_products(void *context, void *products, int64_t count) {
  beat(context);
  multiplyBlocked(poolOf(context), static_cast<const par_product *>(products), count);
}
