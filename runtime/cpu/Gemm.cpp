#include "cpu/BlockedProduct.h"
#include "cpu/Context.h"
#include "cpu/Dot.h"
#include "cpu/Multiply.h"

#include <algorithm>
#include <cstring>

using namespace par::cpu;

/// C = beta * C, for products without terms.
static void scale(int64_t m, int64_t n, float beta, float *c, int64_t ldc) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      c[i * ldc + j] = beta == 0 ? 0 : beta * c[i * ldc + j];
}

/// Boundary `part` of `parts` in 0 … size, on whole tiles of the kernels.
static int64_t boundary(int64_t size, int64_t part, int64_t parts) {
  constexpr int64_t tile = 48;
  return part == parts ? size : std::min(size, (size * part / parts + tile - 1) / tile * tile);
}

namespace {
/// One product, whole or a part. How it is computed is decided for the whole.
struct Product : par_product {
  bool blocked;

  explicit Product(const par_product &whole)
      : par_product(whole),
        blocked((beta == 0 || beta == 1) && suitsBlocks(transpose_a, transpose_b, m, n, lda, ldb)) {}

  void run() const {
    if (m == 0 || n == 0)
      return;
    if (blocked && k != 0)
      return multiplyBlocked(
          {bool(transpose_a), m, n, k, a, lda, b, ldb, beta == 0 ? nullptr : addend, c, ldc});
    if (beta != 0 && addend != c)
      for (int64_t i = 0; i < m; ++i)
        std::memcpy(c + i * ldc, addend + i * ldc, size_t(n) * sizeof(float));
    if (k == 0)
      return scale(m, n, beta, c, ldc);
    multiply(transpose_a, transpose_b, m, n, k, 1.0f, a, lda, b, ldb, beta, c, ldc);
  }

  /// One element of C.
  void runDot(Pool *pool) const {
    double sum = dot(pool, k, a, transpose_a ? lda : 1, b, transpose_b ? 1 : ldb);
    *c = float(beta == 0 ? sum : sum + double(beta) * double(*addend));
  }

  /// Rows [begin, end) of C.
  Product rows(int64_t begin, int64_t end) const {
    Product part = *this;
    part.m = end - begin;
    part.a += begin * (transpose_a ? 1 : lda);
    part.addend += begin * ldc;
    part.c += begin * ldc;
    return part;
  }

  /// Columns [begin, end) of C.
  Product columns(int64_t begin, int64_t end) const {
    Product part = *this;
    part.n = end - begin;
    part.b += begin * (transpose_b ? ldb : 1);
    part.addend += begin;
    part.c += begin;
    return part;
  }

  /// A part of the longer side of C. Which one depends on m and n only.
  Product share(int64_t part, int64_t parts) const {
    return m >= n ? rows(boundary(m, part, parts), boundary(m, part + 1, parts))
                  : columns(boundary(n, part, parts), boundary(n, part + 1, parts));
  }
};

constexpr int64_t worthAThread = 64 * 64 * 64; ///< multiplications
} // namespace

extern "C" void par_gemm(void *context, int32_t transposeA, int32_t transposeB, int64_t m, int64_t n,
                         int64_t k, void *a, int64_t lda, int64_t strideA, void *b, int64_t ldb,
                         int64_t strideB, float beta, void *addend, void *c, int64_t ldc, int64_t strideC,
                         int64_t batch) {
  beat(context);
  auto product = [&](int64_t i) {
    return Product({transposeA, transposeB, m, n, k, static_cast<float *>(a) + i * strideA, lda,
                    static_cast<float *>(b) + i * strideB, ldb, beta,
                    static_cast<float *>(addend) + i * strideC, static_cast<float *>(c) + i * strideC, ldc});
  };
  if (m == 1 && n == 1) {
    for (int64_t i = 0; i < batch; ++i)
      product(i).runDot(poolOf(context));
    return;
  }
  runParts(poolOf(context), m * n * k * batch / worthAThread, [&](int64_t part, int64_t parts) {
    if (batch >= parts) {
      for (int64_t i = batch * part / parts; i < batch * (part + 1) / parts; ++i)
        product(i).run();
      return;
    }
    for (int64_t i = 0; i < batch; ++i)
      product(i).share(part, parts).run();
  });
}

extern "C" void par_products(void *context, void *products, int64_t count) {
  beat(context);
  auto *all = static_cast<const par_product *>(products);
  int64_t multiplications = 0;
  for (int64_t i = 0; i < count; ++i)
    multiplications += all[i].m * all[i].n * all[i].k;
  runParts(poolOf(context), multiplications / worthAThread, [&](int64_t part, int64_t parts) {
    for (int64_t i = 0; i < count; ++i)
      Product(all[i]).share(part, parts).run();
  });
}
