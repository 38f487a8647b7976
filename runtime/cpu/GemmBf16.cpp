// Products of bf16 matrices in f32: panels of A and B are widened into the workspace and multiplied by
// oneDNN's sgemm. oneDNN's own bf16 product is several times slower on AVX-512 without AMX and does not exist
// below it.
#include "cpu/Bf16.h"
#include "cpu/Context.h"
#include "cpu/Multiply.h"
#include "par/runtime.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace par::cpu {
namespace {

/// Terms of a sum that are multiplied at once: the same for every workspace, so that sums do not depend on
/// it.
constexpr int64_t depth = 256;
/// A thread gets at least so many floats of the workspace, and fewer threads work where there is less.
constexpr int64_t leastShare = 1 << 16;

/// One product; ld = elements between rows. C and what is added to it are f32, or bf16 if `narrow`.
struct Product {
  bool transposeA, transposeB, narrow;
  int64_t m, n, k;
  const uint16_t *a;
  int64_t lda;
  const uint16_t *b;
  int64_t ldb;
  float beta;
  const char *addend; ///< laid out as c
  char *c;
  int64_t ldc;

  int64_t bytesOfC() const { return narrow ? 2 : 4; }
  float *single(int64_t row, int64_t column) const {
    return reinterpret_cast<float *>(c) + row * ldc + column;
  }

  Product rows(int64_t begin, int64_t end) const {
    Product part = *this;
    part.m = end - begin;
    part.a += begin * (transposeA ? 1 : lda);
    part.addend += begin * ldc * bytesOfC();
    part.c += begin * ldc * bytesOfC();
    return part;
  }
  Product columns(int64_t begin, int64_t end) const {
    Product part = *this;
    part.n = end - begin;
    part.b += begin * (transposeB ? ldb : 1);
    part.addend += begin * bytesOfC();
    part.c += begin * bytesOfC();
    return part;
  }
};

/// Sizes of the blocks of rows and columns whose panels fit into `floats`.
struct Blocks {
  int64_t rows, columns, terms;

  Blocks(const Product &p, int64_t floats) : terms(std::max<int64_t>(1, std::min(p.k, depth))) {
    // Two panels of `terms` and a block of C: the largest square first, then what a short side leaves to the
    // other.
    auto side = int64_t(std::sqrt(double(terms * terms + floats)) - double(terms));
    rows = std::clamp<int64_t>(side, 1, p.m);
    columns = std::clamp<int64_t>((floats - rows * terms) / (rows + terms), 1, p.n);
    rows = std::clamp<int64_t>((floats - columns * terms) / (columns + terms), 1, p.m);
  }
};

/// `rows` x `columns` of a matrix, widened and packed.
void widenPanel(const uint16_t *from, int64_t ld, int64_t rows, int64_t columns, float *to) {
  for (int64_t i = 0; i < rows; ++i)
    widenRow(from + i * ld, to + i * columns, columns);
}

/// Block of C from (row, column): in place where C is f32, else summed up in `tile` and rounded once.
void multiplyBlock(const Product &p, const Blocks &blocks, int64_t row, int64_t column, float *workspace) {
  int64_t rows = std::min(blocks.rows, p.m - row), columns = std::min(blocks.columns, p.n - column);
  float *panelA = workspace, *panelB = panelA + blocks.rows * blocks.terms,
        *tile = panelB + blocks.columns * blocks.terms;
  float *c = p.narrow ? tile : p.single(row, column), beta = p.narrow ? 0 : p.beta;
  int64_t ldc = p.narrow ? columns : p.ldc;
  if (!p.narrow && beta != 0 && p.addend != p.c)
    for (int64_t i = 0; i < rows; ++i)
      std::memcpy(c + i * ldc, reinterpret_cast<const float *>(p.addend) + (row + i) * p.ldc + column,
                  size_t(columns) * sizeof(float));
  for (int64_t i = 0; p.k == 0 && i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      c[i * ldc + j] = beta == 0 ? 0 : beta * c[i * ldc + j];
  for (int64_t term = 0; term < p.k; term += blocks.terms) {
    int64_t terms = std::min(blocks.terms, p.k - term);
    if (p.transposeA)
      widenPanel(p.a + term * p.lda + row, p.lda, terms, rows, panelA);
    else
      widenPanel(p.a + row * p.lda + term, p.lda, rows, terms, panelA);
    if (p.transposeB)
      widenPanel(p.b + column * p.ldb + term, p.ldb, columns, terms, panelB);
    else
      widenPanel(p.b + term * p.ldb + column, p.ldb, terms, columns, panelB);
    multiply(p.transposeA, p.transposeB, rows, columns, terms, 1.0f, panelA, p.transposeA ? rows : terms,
             panelB, p.transposeB ? terms : columns, term == 0 ? beta : 1.0f, c, ldc);
  }
  if (!p.narrow)
    return;
  for (int64_t i = 0; i < rows; ++i) {
    int64_t at = (row + i) * p.ldc + column;
    uint16_t *out = reinterpret_cast<uint16_t *>(p.c) + at;
    if (p.beta == 0)
      roundRow(tile + i * columns, out, columns);
    else
      roundSumRow(tile + i * columns, p.beta, reinterpret_cast<const uint16_t *>(p.addend) + at, out,
                  columns);
  }
}

void run(const Product &p, float *workspace, int64_t floats) {
  if (p.m == 0 || p.n == 0)
    return;
  Blocks blocks(p, floats);
  for (int64_t column = 0; column < p.n; column += blocks.columns)
    for (int64_t row = 0; row < p.m; row += blocks.rows)
      multiplyBlock(p, blocks, row, column, workspace);
}

/// Boundary `part` of `parts` in 0 … size, on whole tiles of the kernels.
int64_t boundary(int64_t size, int64_t part, int64_t parts) {
  constexpr int64_t tile = 48;
  return part == parts ? size : std::min(size, (size * part / parts + tile - 1) / tile * tile);
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
  constexpr int64_t enough = 64 * 64 * 64; // multiplications that are worth a thread
  int64_t floats = bytes / int64_t(sizeof(float));
  int64_t parts = std::min(m * n * k * batch / enough, std::max<int64_t>(1, floats / leastShare));
  auto product = [&](int64_t i) {
    int64_t offset = i * strideC * (narrow ? 2 : 4);
    return Product{bool(transposeA),
                   bool(transposeB),
                   bool(narrow),
                   m,
                   n,
                   k,
                   static_cast<uint16_t *>(a) + i * strideA,
                   lda,
                   static_cast<uint16_t *>(b) + i * strideB,
                   ldb,
                   beta,
                   static_cast<char *>(addend) + offset,
                   static_cast<char *>(c) + offset,
                   ldc};
  };
  runParts(poolOf(context), parts, [&](int64_t part, int64_t count) {
    int64_t share = floats / count;
    float *own = static_cast<float *>(workspace) + part * share;
    if (batch >= count) {
      for (int64_t i = batch * part / count; i < batch * (part + 1) / count; ++i)
        run(product(i), own, share);
      return;
    }
    for (int64_t i = 0; i < batch; ++i)
      run(m >= n ? product(i).rows(boundary(m, part, count), boundary(m, part + 1, count))
                 : product(i).columns(boundary(n, part, count), boundary(n, part + 1, count)),
          own, share);
  });
}
