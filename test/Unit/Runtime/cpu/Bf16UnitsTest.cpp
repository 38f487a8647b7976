// Products of bf16 matrices by every kind of units, emulated where the processor has none.
#include "ProductShape.h"
#include "UnitsEmulator.h"
#include "cpu/Bf16.h"
#include "cpu/BlockedProduct.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using par::cpu::Bf16Product;
using par::cpu::Bf16Units;
using par::cpu::multiplyBlocked;
using par::cpu::Pool;
using Shape = par::test::ProductShape;
using par::cpu::widen;
using par::test::testableBf16Units;
using par::test::WithBf16Units;

namespace {

/// Operands with NaN between their rows, which nothing may read.
struct Case {
  Shape shape;
  int64_t lda, ldb, ldc;
  std::vector<uint16_t> a, b;
  std::vector<float> addend;

  explicit Case(Shape shape)
      : shape(shape), lda((shape.transposeA ? shape.m : shape.k) + 3),
        ldb((shape.transposeB ? shape.k : shape.n) + 1), ldc(shape.n + 5),
        a(random(shape.transposeA ? shape.k : shape.m, shape.transposeA ? shape.m : shape.k, lda, 1)),
        b(random(shape.transposeB ? shape.n : shape.k, shape.transposeB ? shape.k : shape.n, ldb, 2)),
        addend(size_t(shape.m * ldc)) {
    for (size_t i = 0; i < addend.size(); ++i)
      addend[i] = float(i % 11) * 0.3f;
  }

  static std::vector<uint16_t> random(int64_t rows, int64_t columns, int64_t stride, unsigned seed) {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<float> values(-1, 1);
    std::vector<uint16_t> result(size_t(rows * stride) + 1, 0x7FC0);
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column) {
        float value = values(generator);
        par::cpu::roundRow(&value, &result[size_t(row * stride + column)], 1);
      }
    return result;
  }

  Bf16Product product(float beta, float *c) const {
    Bf16Product p{};
    p.transpose_a = shape.transposeA, p.transpose_b = shape.transposeB;
    p.m = shape.m, p.n = shape.n, p.k = shape.k;
    p.a = a.data(), p.lda = lda, p.b = b.data(), p.ldb = ldb;
    p.beta = beta, p.addend = addend.data(), p.c = c, p.ldc = ldc;
    return p;
  }

  double element(double beta, int64_t row, int64_t column) const {
    double sum = beta * double(addend[size_t(row * ldc + column)]);
    for (int64_t i = 0; i < shape.k; ++i)
      sum += double(widen(a[size_t(shape.transposeA ? i * lda + row : row * lda + i)])) *
             double(widen(b[size_t(shape.transposeB ? column * ldb + i : i * ldb + column)]));
    return sum;
  }
};

/// NaN in the threads' blocks, as an earlier product may leave it: a packed block that is not filled up shows
/// it. Widened numbers lie in the upper halves of words.
void paintBlocks(Pool &pool) {
  WithBf16Units widened(Bf16Units::none);
  constexpr int64_t side = 48, terms = 768;
  std::vector<uint16_t> nan(side * terms, 0x7FC0);
  std::vector<float> c(side * side);
  Bf16Product p{};
  p.m = p.n = p.ldc = side, p.k = terms;
  p.a = p.b = nan.data(), p.lda = terms, p.ldb = side, p.c = c.data();
  multiplyBlocked(&pool, &p, 1);
  multiplyBlocked(nullptr, &p, 1);
}

/// Emulated, `dot` traps once per 32 terms.
bool isSlow(const Shape &shape, Bf16Units units) {
  return units == Bf16Units::dot && shape.m * shape.n * shape.k > 300000;
}

class Bf16UnitsProduct : public testing::TestWithParam<Shape> {};

TEST_P(Bf16UnitsProduct, EqualsLoops) {
  Case item(GetParam());
  const Shape &shape = item.shape;
  Pool pool(3);
  for (Bf16Units units : testableBf16Units()) {
    paintBlocks(pool);
    WithBf16Units with(units);
    for (float beta : {0.0f, 1.0f, -0.5f})
      for (Pool *threads : {static_cast<Pool *>(nullptr), &pool}) {
        if (isSlow(shape, units) && (!threads || beta == 0))
          continue;
        std::vector<float> c(size_t(shape.m * item.ldc), NAN);
        Bf16Product product = item.product(beta, c.data());
        multiplyBlocked(threads, &product, 1);
        for (int64_t row = 0; row < shape.m; ++row)
          for (int64_t column = 0; column < item.ldc; ++column) {
            float value = c[size_t(row * item.ldc + column)];
            if (column >= shape.n)
              ASSERT_TRUE(std::isnan(value)) << nameOf(units) << " wrote beyond row " << row;
            else
              ASSERT_NEAR(value, item.element(double(beta), row, column), 1e-6 * double(shape.k + 4))
                  << nameOf(units) << " row " << row << " column " << column << " beta " << beta;
          }
      }
  }
}

// What every number of threads, and every sharding of rows and columns, gets.
TEST_P(Bf16UnitsProduct, PartsHaveTheSameBits) {
  Case item(GetParam());
  const Shape &shape = item.shape;
  Pool pool(2);
  for (Bf16Units units : testableBf16Units())
    for (float beta : {1.0f, -0.7f}) {
      if (isSlow(shape, units) && beta != 1)
        continue;
      WithBf16Units with(units);
      std::vector<float> whole(size_t(shape.m * item.ldc), 0), parts = whole, shared = whole;
      Bf16Product product = item.product(beta, whole.data());
      multiplyBlocked(nullptr, &product, 1);
      product.c = shared.data();
      multiplyBlocked(&pool, &product, 1);
      EXPECT_EQ(whole, shared) << nameOf(units);
      int64_t rows[] = {0, shape.m / 3, shape.m}, columns[] = {0, shape.n / 2, shape.n};
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) {
          int64_t corner = rows[i] * item.ldc + columns[j];
          Bf16Product part = item.product(beta, parts.data() + corner);
          part.m = rows[i + 1] - rows[i], part.n = columns[j + 1] - columns[j];
          part.a += rows[i] * (shape.transposeA ? 1 : item.lda);
          part.b += columns[j] * (shape.transposeB ? item.ldb : 1);
          part.addend += corner;
          if (part.m && part.n)
            multiplyBlocked(nullptr, &part, 1);
        }
      EXPECT_EQ(whole, parts) << nameOf(units);
    }
}

INSTANTIATE_TEST_SUITE_P(Runtime, Bf16UnitsProduct,
                         testing::Values(Shape{false, false, 1, 1, 1}, Shape{true, false, 3, 2, 2},
                                         Shape{false, true, 16, 16, 32}, Shape{false, false, 32, 32, 64},
                                         Shape{true, true, 33, 31, 65}, Shape{true, false, 48, 17, 31},
                                         Shape{false, true, 17, 48, 95}, Shape{true, true, 15, 70, 130},
                                         // More terms than a block has, of which the last are few.
                                         Shape{false, false, 40, 21, 771}, Shape{true, false, 21, 40, 769},
                                         Shape{false, true, 21, 40, 800}));

// As the manual says.
TEST(Bf16Units, DenormalsCountAsZero) {
  uint16_t small = 1, one = 0x3F80; // 2^-133
  for (Bf16Units units : testableBf16Units()) {
    WithBf16Units with(units);
    float c = -1;
    Bf16Product p{};
    p.m = p.n = p.k = 1, p.a = &small, p.lda = 1, p.b = &one, p.ldb = 1, p.c = &c, p.ldc = 1;
    multiplyBlocked(nullptr, &p, 1);
    EXPECT_EQ(c, units == Bf16Units::none ? widen(small) : 0) << nameOf(units);
  }
}

} // namespace
