// par_gemm and par_copy against plain loops.
#include "cpu/Context.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace {

struct Shape {
  bool transposeA, transposeB;
  int64_t m, n, k;
  float beta;
};

/// Small integers, so that every order of summation gives the same bytes.
std::vector<float> integers(int64_t count, int seed) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(float((i * 7 + seed * 3 + i / 5) % 9 - 4));
  return values;
}

class Gemm : public testing::TestWithParam<Shape> {};

TEST_P(Gemm, EqualsLoops) {
  auto [ta, tb, m, n, k, beta] = GetParam();
  int64_t batch = 3, lda = (ta ? m : k) + 2, ldb = (tb ? k : n) + 1, ldc = n + 3;
  int64_t strideA = (ta ? k : m) * lda + 5, strideB = (tb ? n : k) * ldb, strideC = m * ldc + 4;
  std::vector<float> a = integers(batch * strideA, 1), b = integers(batch * strideB, 2);
  // With beta 0 the old content is not read: it may be the arena's paint, NaN.
  std::vector<float> c = beta == 0 ? std::vector<float>(size_t(batch * strideC), NAN)
                                   : integers(batch * strideC, 3),
                     old = c;
  std::vector<float> elsewhere(c.size(), NAN);
  par::device::Context context;
  auto run = [&](std::vector<float> &d, std::vector<float> &out) {
    par_gemm(&context, ta, tb, m, n, k, a.data(), lda, strideA, b.data(), ldb, strideB, beta, d.data(),
             out.data(), ldc, strideC, batch);
  };
  run(c, elsewhere); // what is added lies apart
  run(c, c);
  for (int64_t i = 0; i < batch; ++i)
    for (int64_t row = 0; row < m; ++row)
      for (int64_t column = 0; column < ldc; ++column) {
        size_t at = size_t(i * strideC + row * ldc + column);
        if (column >= n) { // between the rows
          EXPECT_TRUE(c[at] == old[at] || (std::isnan(c[at]) && std::isnan(old[at])));
          continue;
        }
        float sum = beta == 0 ? 0 : beta * old[at];
        for (int64_t j = 0; j < k; ++j)
          sum += a[size_t(i * strideA + (ta ? j * lda + row : row * lda + j))] *
                 b[size_t(i * strideB + (tb ? column * ldb + j : j * ldb + column))];
        ASSERT_EQ(elsewhere[at], sum);
        ASSERT_EQ(c[at], sum) << "batch " << i << " row " << row << " column " << column;
      }
}

INSTANTIATE_TEST_SUITE_P(Runtime, Gemm,
                         testing::Values(Shape{false, false, 5, 7, 3, 0}, Shape{true, false, 5, 7, 3, 1},
                                         Shape{false, true, 17, 33, 65, 0}, Shape{true, true, 9, 1, 130, 1},
                                         Shape{false, false, 1, 1, 1, 2}, Shape{false, true, 64, 64, 64, 0},
                                         Shape{false, false, 4, 6, 0, 2}, Shape{false, false, 4, 6, 0, 0}));

TEST(Gemm, BroadcastsOneOperand) {
  std::vector<float> a = integers(4, 1), b = integers(3 * 4, 2), c(12, NAN);
  par::device::Context context;
  par_gemm(&context, 0, 0, 2, 2, 2, a.data(), 2, 0, b.data(), 2, 4, 0, c.data(), c.data(), 2, 4, 3);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(c[size_t(4 * i)], a[0] * b[size_t(4 * i)] + a[1] * b[size_t(4 * i + 2)]);
}

// A gradient norm: millions of terms of one size. Added up one by one in f32 they would lose whole per cents.
TEST(Gemm, LongDotProductsKeepTheirDigits) {
  const int64_t count = (int64_t(1) << 22) + 13;
  std::vector<float> a(size_t(count), 1.1f);
  float sum = NAN;
  par::cpu::CpuDevice device({3});
  par::device::Context alone, shared;
  shared.device = &device;
  for (auto *context : {&alone, &shared}) {
    float before = context == &alone ? NAN : sum;
    par_gemm(context, 0, 1, 1, 1, count, a.data(), count, 0, a.data(), count, 0, 0, &sum, &sum, 1, 0, 1);
    EXPECT_NEAR(double(sum) / (double(count) * double(1.1f) * double(1.1f)), 1.0, 1e-6);
    if (context != &alone)
      EXPECT_EQ(sum, before) << "depends on the number of threads";
  }
}

// Joined products: one A with two B of different widths, a sum of two products in one C, and what is added
// from elsewhere; more threads than small products have rows.
TEST(Gemm, JoinedProductsEqualSingleOnes) {
  for (int64_t m : {1, 5, 67, 300})
    for (int threads : {1, 2, 5}) {
      const int64_t k = 70, wide = 130, narrow = 7;
      std::vector<float> x = integers(m * k, 1), w = integers(wide * k, 2), v = integers(k * narrow, 3),
                         d = integers(m * wide, 4);
      std::vector<float> y(size_t(m * wide), NAN), z(size_t(m * narrow), NAN), y1 = y, z1 = z;
      par::cpu::CpuDevice device({threads});
      par::device::Context context;
      context.device = &device;
      par_product products[] = {
          {0, 1, m, wide, k, x.data(), k, w.data(), k, 2, d.data(), y.data(), wide},
          {0, 0, m, narrow, k, x.data(), k, v.data(), narrow, 0, z.data(), z.data(), narrow},
          {0, 1, m, wide, k, x.data(), k, w.data(), k, 1, y.data(), y.data(), wide},
      };
      par_products(&context, products, 3);
      par_gemm(&context, 0, 1, m, wide, k, x.data(), k, 0, w.data(), k, 0, 2, d.data(), y1.data(), wide, 0,
               1);
      par_gemm(&context, 0, 1, m, wide, k, x.data(), k, 0, w.data(), k, 0, 1, y1.data(), y1.data(), wide, 0,
               1);
      par_gemm(&context, 0, 0, m, narrow, k, x.data(), k, 0, v.data(), narrow, 0, 0, z1.data(), z1.data(),
               narrow, 0, 1);
      EXPECT_EQ(y, y1) << m << " rows, " << threads << " threads";
      EXPECT_EQ(z, z1) << m << " rows, " << threads << " threads";
    }
}

TEST(Copy, CopiesAndBeats) {
  par::device::Context context;
  std::atomic<uint64_t> beats{0};
  context.beats = &beats;
  std::vector<int> from(100), to(100);
  std::iota(from.begin(), from.end(), 0);
  par_copy(&context, to.data(), from.data(), 400);
  EXPECT_EQ(from, to);
  EXPECT_EQ(beats, 1u);
}

} // namespace
