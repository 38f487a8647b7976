// Products from packed blocks against plain loops, and that rows and columns may be dealt out in any way.
#include "cpu/BlockedProduct.h"
#include "cpu/Context.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using par::cpu::MatrixProduct;

namespace {

struct Shape {
  bool transposeA;
  int64_t m, n, k;
};

std::ostream &operator<<(std::ostream &out, const Shape &shape) {
  return out << (shape.transposeA ? "A^T B " : "A B ") << shape.m << " x " << shape.n << " x " << shape.k;
}

/// Operands with room between their rows.
struct Case {
  Shape shape;
  int64_t lda, ldb, ldc;
  std::vector<float> a, b, addend;

  explicit Case(Shape shape)
      : shape(shape), lda((shape.transposeA ? shape.m : shape.k) + 3), ldb(shape.n + 1), ldc(shape.n + 5),
        a(random((shape.transposeA ? shape.k : shape.m) * lda, 1)), b(random(shape.k * ldb, 2)),
        addend(random(shape.m * ldc, 3)) {}

  static std::vector<float> random(int64_t count, unsigned seed) {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<float> values(-1, 1);
    std::vector<float> result;
    for (int64_t i = 0; i < count; ++i)
      result.push_back(values(generator));
    return result;
  }

  MatrixProduct product(bool add, float *c) const {
    return {shape.transposeA,
            shape.m,
            shape.n,
            shape.k,
            a.data(),
            lda,
            b.data(),
            ldb,
            add ? addend.data() : nullptr,
            c,
            ldc};
  }

  double element(bool add, int64_t row, int64_t column) const {
    double sum = add ? double(addend[size_t(row * ldc + column)]) : 0;
    for (int64_t i = 0; i < shape.k; ++i)
      sum += double(a[size_t(shape.transposeA ? i * lda + row : row * lda + i)]) *
             double(b[size_t(i * ldb + column)]);
    return sum;
  }
};

class BlockedProduct : public testing::TestWithParam<Shape> {};

TEST_P(BlockedProduct, EqualsLoops) {
  Case item(GetParam());
  auto [transposed, m, n, k] = item.shape;
  for (bool add : {false, true}) {
    std::vector<float> c(size_t(m * item.ldc), NAN);
    par::cpu::multiplyBlocked(item.product(add, c.data()));
    for (int64_t row = 0; row < m; ++row)
      for (int64_t column = 0; column < item.ldc; ++column) {
        float value = c[size_t(row * item.ldc + column)];
        if (column >= n)
          ASSERT_TRUE(std::isnan(value)) << "wrote beyond row " << row;
        else
          ASSERT_NEAR(value, item.element(add, row, column), 1e-6 * double(k + 4))
              << "row " << row << " column " << column;
      }
  }
}

// What every number of threads, and every sharding of rows and columns, gets.
TEST_P(BlockedProduct, PartsHaveTheSameBits) {
  Case item(GetParam());
  auto [transposed, m, n, k] = item.shape;
  std::vector<float> whole(size_t(m * item.ldc), 0), parts = whole;
  par::cpu::multiplyBlocked(item.product(true, whole.data()));
  struct Range {
    int64_t begin, end;
  };
  for (Range rows : {Range{0, m / 3}, Range{m / 3, m}})
    for (Range columns : {Range{0, n / 2}, Range{n / 2, n}}) {
      int64_t begin = rows.begin * item.ldc + columns.begin;
      MatrixProduct part = item.product(true, parts.data() + begin);
      part.m = rows.end - rows.begin;
      part.n = columns.end - columns.begin;
      part.a += rows.begin * (transposed ? 1 : item.lda);
      part.b += columns.begin;
      part.addend += begin;
      if (part.m && part.n)
        par::cpu::multiplyBlocked(part);
    }
  EXPECT_EQ(whole, parts);
}

INSTANTIATE_TEST_SUITE_P(Runtime, BlockedProduct,
                         testing::Values(Shape{false, 1, 1, 1}, Shape{true, 1, 1, 1},
                                         Shape{false, 13, 31, 17}, Shape{true, 13, 31, 17},
                                         Shape{false, 14, 32, 256}, Shape{true, 14, 32, 256},
                                         Shape{false, 67, 259, 521}, Shape{true, 67, 259, 521},
                                         Shape{true, 30, 48, 5}, Shape{false, 1361, 33, 19},
                                         Shape{true, 1361, 33, 19}));

// What the choice between it and the library is made from is the whole product: threads change nothing.
TEST(BlockedProduct, IsChosenForRowsThatArePagesApart) {
  using par::cpu::suitsBlocks;
  EXPECT_TRUE(suitsBlocks(true, false, 2048, 512, 2048, 512));
  EXPECT_TRUE(suitsBlocks(false, false, 1024, 1024, 384, 1024));
  EXPECT_FALSE(suitsBlocks(false, false, 1024, 1000, 384, 1000));
  EXPECT_FALSE(suitsBlocks(true, false, 512, 2048, 512, 2048))
      << "its wide rows are what the library is good at";
  EXPECT_FALSE(suitsBlocks(true, true, 2048, 512, 2048, 512));
  EXPECT_FALSE(suitsBlocks(true, false, 8192, 4096, 8192, 4096))
      << "large ones are copied by the library too";
  EXPECT_FALSE(suitsBlocks(false, false, 1, 1024, 384, 1024));
}

TEST(BlockedProduct, ThreadsOfAPoolAgree) {
  int64_t m = 1024, n = 128, k = 300;
  std::vector<float> a = Case::random(m * k, 1), b = Case::random(n * k, 2), alone(size_t(m * n)),
                     shared = alone;
  ASSERT_TRUE(par::cpu::suitsBlocks(true, false, m, n, m, n));
  par::cpu::Pool pool(3);
  par::cpu::CpuContext one, three;
  three.pool = &pool;
  par_gemm(&one, 1, 0, m, n, k, a.data(), m, 0, b.data(), n, 0, 0, alone.data(), alone.data(), n, 0, 1);
  par_gemm(&three, 1, 0, m, n, k, a.data(), m, 0, b.data(), n, 0, 0, shared.data(), shared.data(), n, 0, 1);
  EXPECT_EQ(alone, shared);
  for (int64_t i : {int64_t(0), m * n / 2 + 7, m * n - 1}) {
    double sum = 0;
    for (int64_t j = 0; j < k; ++j)
      sum += double(a[size_t(j * m + i / n)]) * double(b[size_t(j * n + i % n)]);
    EXPECT_NEAR(alone[size_t(i)], sum, 1e-4);
  }
}

} // namespace
