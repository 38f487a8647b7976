// Products of bf16 matrices, summed up in f32: elements are widened where blocks are packed.
#include "cpu/BlockedProduct.h"
#include "cpu/Context.h"
#include "par/runtime.h"

#include <algorithm>
#include <cmath>

namespace par::cpu {
namespace {

/// A thread gets at least so many floats of the workspace, else threads share products instead.
constexpr int64_t leastShare = 1 << 16;

/// Rows and columns of C whose sums fit into the workspace at a time: a square, or what a short side leaves
/// to the other.
struct Room {
  int64_t rows, columns;

  Room(int64_t m, int64_t n, int64_t floats) {
    auto side = std::max<int64_t>(1, int64_t(std::sqrt(double(floats))));
    columns = std::min(n, std::max(side, floats / std::max<int64_t>(1, m)));
    rows = std::min(m, std::max<int64_t>(1, floats / std::max<int64_t>(1, columns)));
  }
};

Bf16Product partOf(Bf16Product p, int64_t row, int64_t column, int64_t rows, int64_t columns) {
  int64_t at = row * p.roundedStride + column;
  p.m = std::min(rows, p.m - row), p.n = std::min(columns, p.n - column);
  if (p.k > 0) { // without terms there may be no operands
    p.a += row * (p.transpose_a ? 1 : p.lda);
    p.b += column * (p.transpose_b ? p.ldb : 1);
  }
  p.rounded += at;
  if (p.roundedBeta != 0)
    p.roundedAddend += at;
  return p;
}

/// A product whose result is bf16.
void multiplyRounded(Pool *pool, const Bf16Product &p, float *sums, int64_t floats) {
  Room room(p.m, p.n, floats);
  for (int64_t row = 0; row < p.m; row += room.rows)
    for (int64_t column = 0; column < p.n; column += room.columns) {
      Bf16Product part = partOf(p, row, column, room.rows, room.columns);
      part.c = sums, part.ldc = part.n;
      multiplyBlocked(pool, &part, 1);
    }
}

} // namespace
} // namespace par::cpu

extern "C" void par_gemm_bf16(void *context, int32_t transposeA, int32_t transposeB, int64_t m, int64_t n,
                              int64_t k, void *a, int64_t lda, int64_t strideA, void *b, int64_t ldb,
                              int64_t strideB, float beta, void *addend, void *c, int64_t ldc,
                              int64_t strideC, int64_t batch, int32_t narrow, void *workspace,
                              int64_t bytes) {
  using namespace par::cpu;
  beat(context);
  Pool *pool = poolOf(context);
  int64_t floats = bytes / int64_t(sizeof(float));
  auto product = [&](int64_t i) {
    Bf16Product p{};
    p.transpose_a = transposeA, p.transpose_b = transposeB;
    p.m = m, p.n = n, p.k = k;
    p.a = static_cast<uint16_t *>(a) + i * strideA, p.lda = lda;
    p.b = static_cast<uint16_t *>(b) + i * strideB, p.ldb = ldb;
    if (narrow) {
      p.rounded = static_cast<uint16_t *>(c) + i * strideC, p.roundedStride = ldc;
      p.roundedBeta = beta, p.roundedAddend = static_cast<uint16_t *>(addend) + i * strideC;
    } else {
      p.c = static_cast<float *>(c) + i * strideC, p.ldc = ldc;
      p.beta = beta, p.addend = static_cast<float *>(addend) + i * strideC;
    }
    return p;
  };
  auto multiply = [&](int64_t i, Pool *threads, float *sums, int64_t room) {
    Bf16Product single = product(i);
    if (narrow)
      multiplyRounded(threads, single, sums, room);
    else
      multiplyBlocked(threads, &single, 1);
  };
  auto *sums = static_cast<float *>(workspace);
  int64_t share = pool ? floats / pool->size() : 0;
  bool shared = narrow && share < std::min(m * n, leastShare);
  if (!pool || shared || batch < pool->size() || m * n * k * batch < 2 * worthAThread) {
    for (int64_t i = 0; i < batch; ++i)
      multiply(i, pool, sums, floats);
    return;
  }
  runParts(pool, pool->size(), [&](int64_t part, int64_t parts) {
    for (int64_t i = batch * part / parts; i < batch * (part + 1) / parts; ++i)
      multiply(i, nullptr, sums + part * share, share);
  });
}
