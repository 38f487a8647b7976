//===- HardwareMathTest.cpp - what device code computes by the hardware's approximations ----------===//
#include "DeviceMath.h"
#include <cmath>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace mlir::par;

namespace {
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Special values, the places where formulas change, and random ones of all sizes.
std::vector<float> makeArguments() {
  std::vector<float> x = {0,      -0.0F, kInfinity, -kInfinity, std::nanf(""), 1e-40F, -1e-40F, 1e38F,
                          -1e38F, 1,     -1,        88.7F,      88.8F,         89,     90,      -87.3F,
                          -87.4F, -104,  -105,      0.3F,       -0.3F,         0.299F, 10,      10.1F,
                          -10,    1e-4F, -1e-4F,    20,         -20,           87};
  std::mt19937 random(1);
  for (float most : {0.01F, 0.5F, 3.0F, 20.0F, 100.0F}) {
    std::uniform_real_distribution<float> draw(-most, most);
    for (int i = 0; i < 500; ++i)
      x.push_back(draw(random));
  }
  return x;
}

/// As HardwareMath.h has it: relatively, by `error` and by `ofSize` times the argument; zero for what is no
/// normal number. Of kernels in f32 a unit in the last place or two.
void expectNear(const std::string &code, const std::function<double(double)> &exact, double error,
                double ofSize = 0, bool inBf16 = true) {
  std::vector<float> x = makeArguments(), got = computeOnDevice(code, x, x, inBf16);
  for (size_t i = 0; i < x.size(); ++i) {
    double expected = exact(x[i]);
    if (std::isnan(expected))
      EXPECT_TRUE(std::isnan(got[i])) << code << " of " << x[i] << ": " << got[i];
    else if (std::isinf(static_cast<float>(expected)))
      EXPECT_EQ(got[i], static_cast<float>(expected)) << code << " of " << x[i];
    else
      EXPECT_LE(std::abs(got[i] - expected),
                (error + ofSize * std::min(std::abs(x[i]), 128.0F)) * std::abs(expected) + 0x1.1p-126)
          << code << " of " << x[i] << ": " << got[i] << ", not " << expected;
  }
}

TEST(HardwareMathTest, Exponentials) {
  expectNear(
      "%r = math.exp %a : f32", [](double x) { return std::exp(x); }, 0x1p-21, 0x1p-23);
}

TEST(HardwareMathTest, Tangents) {
  expectNear(
      "%r = math.tanh %a : f32", [](double x) { return std::tanh(x); }, 0x1p-20);
}

TEST(HardwareMathTest, Sigmoids) {
  for (const char *sum : {"%one, %e", "%e, %one"})
    expectNear(
        "%n = arith.negf %a : f32\n%e = math.exp %n : f32\n%one = arith.constant 1.0 : f32\n"
        "%s = arith.addf " +
            std::string(sum) + " : f32\n%r = arith.divf %one, %s : f32",
        [](double x) { return 1 / (1 + std::exp(-x)); }, 0x1p-20, 0x1p-23);
}

/// In f32 nothing hides what the hardware is off by. A key's bias has a gradient of zero, and AdamW makes
/// steps of what rounding leaves of it.
TEST(HardwareMathTest, KernelsOfF32AreExact) {
  expectNear(
      "%r = math.exp %a : f32", [](double x) { return std::exp(x); }, 0x1p-22, /*ofSize=*/0,
      /*inBf16=*/false);
}

/// One rounding: of 1 + ε and 1 − ε, what is left of the product beside one.
TEST(HardwareMathTest, ProductsThatAreAdded) {
  const float near = 1 + 0x1p-13F, under = 1 - 0x1p-13F;
  auto compute = [&](const std::string &code) {
    return computeOnDevice("%p = arith.mulf %a, %b : f32\n%one = arith.constant 1.0 : f32\n" + code, {near},
                           {under})[0];
  };
  EXPECT_EQ(compute("%m = arith.constant -1.0 : f32\n%r = arith.addf %m, %p : f32"), -0x1p-26F);
  EXPECT_EQ(compute("%r = arith.subf %p, %one : f32"), -0x1p-26F);
  EXPECT_EQ(compute("%r = arith.subf %one, %p : f32"), 0x1p-26F);
  // What something else has of it is rounded.
  EXPECT_EQ(compute("%s = arith.subf %p, %one : f32\n%t = arith.mulf %p, %s : f32\n"
                    "%r = arith.addf %t, %s : f32"),
            0);
}

/// What is no sigmoid stays a quotient.
TEST(HardwareMathTest, QuotientsOfPowers) {
  expectNear(
      "%e = math.exp %a : f32\n%one = arith.constant 1.0 : f32\n%two = arith.constant 2.0 : f32\n"
      "%s = arith.addf %one, %e : f32\n%r = arith.divf %two, %s : f32",
      [](double x) { return 2 / (1 + std::exp(x)); }, 0x1p-20, 0x1p-23);
}

/// To nearest even, with infinities and what is no number; bits are those of the CPU's.
TEST(HardwareMathTest, RoundsToBf16) {
  std::vector<float> x = makeArguments();
  for (uint32_t bits :
       {0x3F808000U, 0x3F818000U, 0x3F808001U, 0x3F807FFFU, 0x7F7FFFFFU, 0xFF7F8000U, 0x00008000U}) {
    float value;
    std::memcpy(&value, &bits, 4);
    x.push_back(value);
  }
  std::vector<float> got =
      computeOnDevice("%h = arith.truncf %a : f32 to bf16\n%r = arith.extf %h : bf16 to f32", x, x);
  for (size_t i = 0; i < x.size(); ++i) {
    uint32_t from, to;
    std::memcpy(&from, &x[i], 4), std::memcpy(&to, &got[i], 4);
    if (std::isnan(x[i]))
      EXPECT_TRUE(std::isnan(got[i]));
    else
      EXPECT_EQ(to, (from + 0x7FFF + (from >> 16 & 1)) & 0xFFFF0000) << x[i];
  }
}
} // namespace
