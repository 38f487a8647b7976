#include "Number.h"
#include "OpNumbers.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace mlir::par;

namespace {

Number draw(int number) { return RandomFunction("test").add(static_cast<uint64_t>(number)).get(); }

TEST(Number, IsAField) {
  for (int i = 0; i < 100; ++i) {
    Number a = draw(3 * i), b = draw(3 * i + 1), c = draw(3 * i + 2);
    EXPECT_EQ(a + b, b + a);
    EXPECT_EQ((a + b) + c, a + (b + c));
    EXPECT_EQ((a * b) * c, a * (b * c));
    EXPECT_EQ(a * (b + c), a * b + a * c);
    EXPECT_EQ(a - a, Number());
    EXPECT_EQ(a * a.inverse(), Number::ofInteger(1));
    EXPECT_NE(a, b);
  }
}

TEST(Number, OfNumbersIsExact) {
  EXPECT_EQ(Number::ofInteger(-3) + Number::ofInteger(5), Number::ofInteger(2));
  EXPECT_EQ(Number::ofInteger(INT64_MIN) + Number::ofInteger(INT64_MAX), Number::ofInteger(-1));
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(-1e6, 1e6);
  for (int i = 0; i < 100; ++i) {
    // Sums and products of floats of 24 bits are exact in 53.
    double a = static_cast<float>(uniform(random)), b = static_cast<float>(std::ldexp(uniform(random), -20));
    EXPECT_EQ(Number::ofFloat(a) * Number::ofFloat(b), Number::ofFloat(a * b));
    EXPECT_EQ(Number::ofFloat(2 * a), Number::ofFloat(a) + Number::ofFloat(a));
  }
  EXPECT_EQ(Number::ofFloat(0.5) + Number::ofFloat(0.25), Number::ofFloat(0.75));
  EXPECT_EQ(Number::ofFloat(-0.0), Number());
  EXPECT_NE(Number::ofFloat(INFINITY), Number::ofFloat(-INFINITY));
}

TEST(Number, RandomFunctionsTellArgumentsApart) {
  auto f = [](const char *name) { return RandomFunction(name); };
  EXPECT_EQ(f("f").add(draw(1)).add(draw(2)).get(), f("f").add(draw(1)).add(draw(2)).get());
  EXPECT_NE(f("f").add(draw(1)).add(draw(2)).get(), f("f").add(draw(2)).add(draw(1)).get());
  EXPECT_NE(f("f").add(draw(1)).get(), f("g").add(draw(1)).get());
  EXPECT_NE(f("f").add("ab").add("c").get(), f("f").add("a").add("bc").get());
}

TEST(OpNumbers, PermutationsAndShapesUndoEachOther) {
  OpNumbers numbers;
  Number x = draw(1), turned = numbers.transpose(x, {2, 3, 4}, {1, 2, 0});
  EXPECT_NE(turned, x);
  EXPECT_EQ(numbers.transpose(turned, {3, 4, 2}, {2, 0, 1}), x);
  EXPECT_EQ(numbers.transpose(turned, {3, 4, 2}, {1, 2, 0}), numbers.transpose(x, {2, 3, 4}, {2, 0, 1}));
  EXPECT_EQ(numbers.transpose(x, {2, 3, 4}, {0, 1, 2}), x);
  // A dimension of one element moves as in a reshape.
  EXPECT_EQ(numbers.transpose(x, {2, 1, 4}, {1, 0, 2}), numbers.reshape(x, {2, 1, 4}, {1, 2, 4}));
  EXPECT_EQ(numbers.transpose(x, {2, 1, 4}, {2, 1, 0}),
            numbers.reshape(numbers.transpose(numbers.reshape(x, {2, 1, 4}, {2, 4}), {2, 4}, {1, 0}), {4, 2},
                            {4, 1, 2}));
  Number flat = numbers.reshape(x, {2, 3}, {6});
  EXPECT_NE(flat, x);
  EXPECT_EQ(numbers.reshape(flat, {6}, {2, 3}), x);
  EXPECT_NE(numbers.reshape(flat, {6}, {3, 2}), x);
}

TEST(OpNumbers, LogarithmsUndoExponentials) {
  OpNumbers numbers;
  EXPECT_EQ(numbers.log(numbers.exp(draw(1))), draw(1));
  EXPECT_NE(numbers.log(draw(2)), draw(2));
}

} // namespace
