//===- PowerTest.cpp - powf of device code is that of C -------------------------------------------===//
#include "DeviceMath.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace mlir::par;

namespace {
constexpr size_t kCount = 4096;

bool isNear(float got, float expected) {
  if (std::isnan(expected))
    return std::isnan(got);
  return got == expected || std::nextafter(got, expected) == expected;
}

/// All pairs of special values, and random ones: at most one unit in the last place off.
TEST(PowerTest, IsThatOfC) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  const float special[] = {0,    -0.0F, 1,      -1,    inf,   -inf,  std::nanf(""), 2,      -2,   3,    -3,
                           0.5F, -0.5F, 1e-40F, 1e38F, 1e-6F, 1e30F, 1e7F,          0.9F,   1.1F, 2.5F, -2.5F,
                           127,  128,   -149,   -150,  65536, 65537, 0.999F,        1.5e9F, 7,    -7};
  std::vector<float> x, y;
  for (float a : special)
    for (float b : special)
      x.push_back(a), y.push_back(b);
  std::mt19937 random(1);
  std::uniform_real_distribution<float> base(0, 10), exponent(-20, 20);
  while (x.size() < kCount)
    x.push_back(base(random)), y.push_back(exponent(random));
  ASSERT_EQ(x.size(), kCount);
  std::vector<float> z = computeOnDevice("%r = math.powf %a, %b : f32", x, y);
  for (size_t i = 0; i < kCount; ++i)
    EXPECT_TRUE(isNear(z[i], std::pow(x[i], y[i])))
        << x[i] << "^" << y[i] << " is " << std::pow(x[i], y[i]) << ", got " << z[i];
}
} // namespace
