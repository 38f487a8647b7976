// Products from packed blocks against plain loops; that rows and columns may be dealt out in any way, that
// products which add to each other wait for each other, and that those of bf16 matrices are those of the same
// numbers in f32.
#include "ProductShape.h"
#include "UnitsEmulator.h"
#include "cpu/BlockedProduct.h"
#include "cpu/Bf16.h"
#include "cpu/Context.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using par::cpu::Bf16Product;
using par::cpu::multiplyBlocked;
using par::cpu::Pool;
using Shape = par::test::ProductShape;

namespace {

/// Operands with room between their rows.
struct Case {
  Shape shape;
  int64_t lda, ldb, ldc;
  std::vector<float> a, b, addend;

  explicit Case(Shape shape)
      : shape(shape), lda((shape.transposeA ? shape.m : shape.k) + 3),
        ldb((shape.transposeB ? shape.k : shape.n) + 1), ldc(shape.n + 5),
        a(random((shape.transposeA ? shape.k : shape.m) * lda, 1)),
        b(random((shape.transposeB ? shape.n : shape.k) * ldb, 2)), addend(random(shape.m * ldc, 3)) {}

  static std::vector<float> random(int64_t count, unsigned seed) {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<float> values(-1, 1);
    std::vector<float> result{0}; // never empty, even without terms
    for (int64_t i = 1; i < count; ++i)
      result.push_back(values(generator));
    return result;
  }

  par_product product(float beta, float *c) const {
    return {shape.transposeA,
            shape.transposeB,
            shape.m,
            shape.n,
            shape.k,
            a.data(),
            lda,
            b.data(),
            ldb,
            beta,
            addend.data(),
            c,
            ldc};
  }

  float termOfA(int64_t row, int64_t i) const {
    return a[size_t(shape.transposeA ? i * lda + row : row * lda + i)];
  }
  float termOfB(int64_t i, int64_t column) const {
    return b[size_t(shape.transposeB ? column * ldb + i : i * ldb + column)];
  }
  double element(double beta, int64_t row, int64_t column) const {
    double sum = beta * double(addend[size_t(row * ldc + column)]);
    for (int64_t i = 0; i < shape.k; ++i)
      sum += double(termOfA(row, i)) * double(termOfB(i, column));
    return sum;
  }
};

class BlockedProduct : public testing::TestWithParam<Shape> {};

TEST_P(BlockedProduct, EqualsLoops) {
  Case item(GetParam());
  const Shape &shape = item.shape;
  Pool pool(3);
  for (float beta : {0.0f, 1.0f, -0.5f})
    for (Pool *threads : {static_cast<Pool *>(nullptr), &pool}) {
      std::vector<float> c(size_t(shape.m * item.ldc), NAN);
      par_product product = item.product(beta, c.data());
      multiplyBlocked(threads, &product, 1);
      for (int64_t row = 0; row < shape.m; ++row)
        for (int64_t column = 0; column < item.ldc; ++column) {
          float value = c[size_t(row * item.ldc + column)];
          if (column >= shape.n)
            ASSERT_TRUE(std::isnan(value)) << "wrote beyond row " << row;
          else
            ASSERT_NEAR(value, item.element(double(beta), row, column), 1e-6 * double(shape.k + 4))
                << "row " << row << " column " << column << " beta " << beta;
        }
    }
}

// What every number of threads, and every sharding of rows and columns, gets.
TEST_P(BlockedProduct, PartsHaveTheSameBits) {
  Case item(GetParam());
  const Shape &shape = item.shape;
  std::vector<float> whole(size_t(shape.m * item.ldc), 0), parts = whole, shared = whole;
  Pool pool(2);
  const float beta = -0.7f; // its product with what is added rounds too
  par_product product = item.product(beta, whole.data());
  multiplyBlocked(nullptr, &product, 1);
  product.c = shared.data();
  multiplyBlocked(&pool, &product, 1);
  EXPECT_EQ(whole, shared);
  struct Range {
    int64_t begin, end;
  };
  for (Range rows : {Range{0, shape.m / 3}, Range{shape.m / 3, shape.m}})
    for (Range columns : {Range{0, shape.n / 2}, Range{shape.n / 2, shape.n}}) {
      int64_t begin = rows.begin * item.ldc + columns.begin;
      par_product part = item.product(beta, parts.data() + begin);
      part.m = rows.end - rows.begin;
      part.n = columns.end - columns.begin;
      part.a += rows.begin * (shape.transposeA ? 1 : item.lda);
      part.b += columns.begin * (shape.transposeB ? item.ldb : 1);
      part.addend += begin;
      multiplyBlocked(nullptr, &part, 1);
    }
  EXPECT_EQ(whole, parts);
}

// Widened while they are packed: the same sums to the last bit, and what they round to.
TEST_P(BlockedProduct, Bf16IsF32OfTheSameNumbers) {
  par::test::WithBf16Units widened(par::cpu::Bf16Units::none);
  Case item(GetParam());
  auto words = [](std::vector<float> &values) {
    std::vector<uint16_t> result(values.size());
    par::cpu::roundRow(values.data(), result.data(), int64_t(values.size()));
    par::cpu::widenRow(result.data(), values.data(), int64_t(values.size()));
    return result;
  };
  std::vector<uint16_t> a = words(item.a), b = words(item.b), addend = words(item.addend);
  std::vector<float> single(item.addend.size(), 7), sums = single;
  std::vector<uint16_t> rounded(single.size(), 7), expected = rounded;
  Pool pool(2);
  for (float beta : {0.0f, -0.7f}) {
    par_product product = item.product(beta, single.data());
    multiplyBlocked(nullptr, &product, 1);
    Bf16Product same{product.transpose_a,
                     product.transpose_b,
                     product.m,
                     product.n,
                     product.k,
                     a.data(),
                     product.lda,
                     b.data(),
                     item.ldb,
                     beta,
                     product.addend,
                     sums.data(),
                     product.ldc,
                     0,
                     nullptr,
                     nullptr,
                     0};
    multiplyBlocked(&pool, &same, 1);
    EXPECT_EQ(single, sums);

    product.beta = same.beta = 0;
    same.roundedBeta = beta, same.roundedAddend = addend.data();
    same.rounded = rounded.data(), same.roundedStride = same.ldc;
    multiplyBlocked(nullptr, &product, 1);
    multiplyBlocked(&pool, &same, 1);
    for (int64_t row = 0; row < same.m; ++row) {
      int64_t at = row * same.ldc;
      if (beta == 0)
        par::cpu::roundRow(single.data() + at, expected.data() + at, same.n);
      else
        par::cpu::roundSumRow(single.data() + at, beta, addend.data() + at, expected.data() + at, same.n);
    }
    EXPECT_EQ(rounded, expected);
  }
}

// Single tiles and what fills none; several blocks of terms, of the shorter side and of the caches; strips
// that are packed in several chunks.
INSTANTIATE_TEST_SUITE_P(Runtime, BlockedProduct,
                         testing::Values(Shape{false, false, 1, 1, 1}, Shape{true, true, 1, 1, 1},
                                         Shape{false, false, 3, 5, 0}, Shape{false, false, 13, 31, 17},
                                         Shape{true, false, 13, 31, 17}, Shape{false, true, 13, 31, 17},
                                         Shape{true, true, 31, 13, 17}, Shape{false, true, 14, 32, 256},
                                         Shape{true, false, 14, 32, 256}, Shape{false, false, 67, 259, 521},
                                         Shape{true, false, 67, 259, 521}, Shape{false, true, 67, 259, 521},
                                         Shape{false, true, 259, 67, 521}, Shape{true, false, 30, 48, 5},
                                         Shape{false, false, 1361, 33, 19}, Shape{true, false, 1361, 33, 19},
                                         Shape{false, true, 1100, 1050, 16},
                                         Shape{true, false, 1050, 1100, 33}, Shape{false, true, 1, 700, 300},
                                         Shape{true, false, 130000, 2, 3}, Shape{false, true, 2, 210000, 3}));

TEST(BlockedProduct, NothingIsDoneWithoutElements) {
  Case item({false, true, 20, 30, 40});
  std::vector<float> c(size_t(20 * item.ldc), 7), old = c;
  for (auto [m, n] : {std::pair{0, 30}, std::pair{20, 0}, std::pair{0, 0}}) {
    par_product product = item.product(0, c.data());
    product.m = m, product.n = n;
    multiplyBlocked(nullptr, &product, 1);
  }
  EXPECT_EQ(c, old);
}

// Sums of products in one C, with others of the same and of other sizes, and empty ones, in between.
TEST(BlockedProduct, LaterProductsAddToWhatEarlierOnesComputed) {
  const int64_t k = 600;
  Case wide({false, true, 300, 200, k}), narrow({false, false, 300, 40, k}),
      other({false, true, 300, 200, 30});
  std::vector<float> y(wide.addend.size(), NAN), z(narrow.addend.size(), NAN), w(other.addend.size(), NAN);
  auto adding = [](par_product product, float *c) { return product.addend = c, product.beta = 1, product; };
  par_product empty = narrow.product(0, z.data());
  empty.n = 0;
  par_product products[] = {wide.product(2, y.data()),
                            narrow.product(0, z.data()),
                            adding(wide.product(1, y.data()), y.data()),
                            other.product(0, w.data()),
                            empty,
                            adding(wide.product(1, y.data()), y.data()),
                            adding(wide.product(1, y.data()), y.data())};
  multiplyBlocked(nullptr, products, 7);
  std::vector<float> expected = y;
  for (int threads : {2, 3, 5})
    for (int repeat = 0; repeat < 20; ++repeat) {
      Pool pool(threads);
      std::fill(y.begin(), y.end(), NAN);
      multiplyBlocked(&pool, products, 7);
      for (size_t i = 0; i < y.size(); ++i)
        ASSERT_TRUE(y[i] == expected[i] || std::isnan(expected[i])) << threads << " threads, element " << i;
    }
  double sum = 4 * wide.element(0, 17, 33) + 2 * double(wide.addend[size_t(17 * wide.ldc + 33)]);
  EXPECT_NEAR(expected[size_t(17 * wide.ldc + 33)], sum, 1e-3);
}

} // namespace
