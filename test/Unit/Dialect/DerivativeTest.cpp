//===- DerivativeTest.cpp - derivatives at points where finite differences say nothing ------------------===//
#include "OpTest.h"
#include <cmath>

using namespace mlir;
using namespace mlir::par;

namespace {
using Values = std::vector<double>;

struct DerivativeTest : OpTest {
  /// The cotangent of the last argument of @main, whose arguments are given; that of the result is all ones.
  Values derive(const char *text, const std::vector<Values> &arguments) {
    func::FuncOp function = parse(text), gradient = function ? buildGradient(function) : nullptr;
    if (!gradient || HasFailure())
      return {};
    Tensors all = drawArguments(gradient, 0.0, 1.0);
    for (auto [tensor, values] : llvm::zip(all, arguments))
      tensor.values = values;
    std::fill(all.back().values.begin(), all.back().values.end(), 1.0);
    return evaluate(gradient, all).back().values;
  }
};

// Where exp(−x) overflows the quotient's derivative would be 0·∞.
TEST_F(DerivativeTest, siluIsFiniteEverywhere) {
  Values actual = derive(R"(
      func.func @main(%x: tensor<7xf64>) -> tensor<7xf64> {
        %s = par.sigmoid %x : tensor<7xf64>
        %y = arith.mulf %x, %s : tensor<7xf64>
        return %y : tensor<7xf64>
      })",
                         {{-1e300, -1000, -2, 0, 2, 1000, 1e300}});
  double sigma = 1 / (1 + std::exp(-2.0)), slope = 2 * sigma * (1 - sigma);
  Values expected = {0, 0, 1 - sigma - slope, 0.5, sigma + slope, 1, 1};
  ASSERT_EQ(actual.size(), expected.size());
  for (auto [a, b] : llvm::zip(actual, expected))
    EXPECT_NEAR(a, b, 1e-14);
}

// As in PyTorch and JAX.
TEST_F(DerivativeTest, reluIsFlatAtZero) {
  EXPECT_EQ(derive(R"(
      func.func @main(%x: tensor<3xf64>) -> tensor<3xf64> {
        %zero = arith.constant dense<0.0> : tensor<3xf64>
        %y = arith.maximumf %x, %zero : tensor<3xf64>
        return %y : tensor<3xf64>
      })",
                   {{-1, 0, 1}}),
            (Values{0, 0, 1}));
}

TEST_F(DerivativeTest, tiesGoToTheSecondOperand) {
  const char *text = R"(
      func.func @main(%x: tensor<3xf64>, %z: tensor<3xf64>) -> tensor<3xf64> {
        %y = arith.minimumf %x, %z : tensor<3xf64>
        return %y : tensor<3xf64>
      })";
  EXPECT_EQ(derive(text, {{1, 2, 3}, {2, 2, 2}}), (Values{0, 1, 1}));
}

// 2/√π to the last digit, though the constant is f32.
TEST_F(DerivativeTest, errorFunctionOfNarrowNumbers) {
  Values actual = derive(R"(
      func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
        %y = math.erf %x : tensor<1xf32>
        return %y : tensor<1xf32>
      })",
                         {{0.0}});
  ASSERT_EQ(actual.size(), 1u);
  EXPECT_NEAR(actual[0], 2 / std::sqrt(M_PI), 1e-14);
}

// Ids 2, 0, 2 and 1, of which 2 is the padding's; rows 1 and 2 are held.
TEST_F(DerivativeTest, nothingFlowsBackToTheRowOfPadding) {
  EXPECT_EQ(derive(R"(
      func.func @main(%ids: tensor<4xi32>, %table: tensor<3x2xf64>) -> tensor<4x2xf64> {
        %y = par.embedding %ids, %table {padding = 2 : i64} : (tensor<4xi32>, tensor<3x2xf64>) -> tensor<4x2xf64>
        return %y : tensor<4x2xf64>
      })",
                   {{2, 0, 2, 1}}),
            (Values{1, 1, 1, 1, 0, 0}));
  EXPECT_EQ(derive(R"(
      func.func @main(%ids: tensor<4xi32>, %o: tensor<i32>, %table: tensor<2x2xf64>) -> tensor<4x2xf64> {
        %y = par.embedding %ids, %table offset %o {padding = 2 : i64} : (tensor<4xi32>, tensor<2x2xf64>, tensor<i32>) -> tensor<4x2xf64>
        return %y : tensor<4x2xf64>
      })",
                   {{2, 0, 2, 1}, {1}}),
            (Values{1, 1, 0, 0}));
}
} // namespace
