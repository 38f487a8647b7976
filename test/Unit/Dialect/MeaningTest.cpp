//===- MeaningTest.cpp - values that ops must have, written out -----------------------------------------===//
#include "OpTest.h"
#include <cmath>

using namespace mlir;
using namespace mlir::par;

namespace {
using Values = std::vector<double>;

struct MeaningTest : OpTest {
  /// The results of `body`, which ends in a return of `types`.
  std::vector<Values> run(const std::string &types, const std::string &body) {
    func::FuncOp function = parse("func.func @main() -> (" + types + ") {\n" + body + "\n}");
    std::vector<Values> values;
    if (function)
      for (Tensor &tensor : evaluate(function, {}))
        values.push_back(tensor.values);
    return values;
  }
};

TEST_F(MeaningTest, integersWrapAndConvertByTheirWidth) {
  auto values = run("tensor<2xi32>, tensor<2xi32>, tensor<2xf64>, tensor<2xf64>, tensor<2xi64>, "
                    "tensor<2xi1>, tensor<2xi32>",
                    R"(
    %big = arith.constant dense<[2147483647, -2147483648]> : tensor<2xi32>
    %one = arith.constant dense<[1, -1]> : tensor<2xi32>
    %bit = arith.constant dense<[true, false]> : tensor<2xi1>
    %sum = arith.addi %big, %one : tensor<2xi32>
    %signed = arith.extsi %bit : tensor<2xi1> to tensor<2xi32>
    %unsigned = arith.uitofp %one : tensor<2xi32> to tensor<2xf64>
    %true = arith.uitofp %bit : tensor<2xi1> to tensor<2xf64>
    %wide = arith.extui %one : tensor<2xi32> to tensor<2xi64>
    %low = arith.trunci %big : tensor<2xi32> to tensor<2xi1>
    %quotient = arith.divsi %big, %one : tensor<2xi32>
    return %sum, %signed, %unsigned, %true, %wide, %low, %quotient
        : tensor<2xi32>, tensor<2xi32>, tensor<2xf64>, tensor<2xf64>, tensor<2xi64>, tensor<2xi1>, tensor<2xi32>)");
  EXPECT_EQ(values, (std::vector<Values>{{-2147483648.0, 2147483647.0},
                                         {-1, 0},
                                         {1, 4294967295.0},
                                         {1, 0},
                                         {1, 4294967295.0},
                                         {1, 0},
                                         {2147483647.0, -2147483648.0}}));
}

TEST_F(MeaningTest, comparisonsKnowNaN) {
  auto values = run("tensor<3xi1>, tensor<3xi1>, tensor<3xi1>, tensor<3xi1>", R"(
    %x = arith.constant dense<[1.0, 0x7FF8000000000000, 2.0]> : tensor<3xf64>
    %y = arith.constant dense<[1.0, 1.0, 1.0]> : tensor<3xf64>
    %0 = arith.cmpf oge, %x, %y : tensor<3xf64>
    %1 = arith.cmpf uge, %x, %y : tensor<3xf64>
    %2 = arith.cmpf one, %x, %y : tensor<3xf64>
    %3 = arith.cmpf ult, %x, %y : tensor<3xf64>
    return %0, %1, %2, %3 : tensor<3xi1>, tensor<3xi1>, tensor<3xi1>, tensor<3xi1>)");
  EXPECT_EQ(values, (std::vector<Values>{{1, 0, 1}, {1, 1, 1}, {0, 0, 1}, {0, 1, 0}}));
}

// 1 + 2⁻⁸ lies between two bf16 numbers and goes to the even one; f32 keeps all of the f64.
TEST_F(MeaningTest, narrowTypesRound) {
  auto values = run("tensor<2xbf16>, tensor<2xf32>", R"(
    %x = arith.constant dense<[1.00390625, 1.0000000000000002]> : tensor<2xf64>
    %0 = arith.truncf %x : tensor<2xf64> to tensor<2xbf16>
    %1 = arith.truncf %x : tensor<2xf64> to tensor<2xf32>
    return %0, %1 : tensor<2xbf16>, tensor<2xf32>)");
  EXPECT_EQ(values, (std::vector<Values>{{1, 1}, {1.00390625, 1.0000000000000002}}));
}

// What an op gives is rounded to its type, not only what truncf gives; sums are rounded once: 256 + 1 + 1 is
// 258, while 256 + 1 alone would go back to 256.
TEST_F(MeaningTest, narrowResultsRoundOnce) {
  auto values = run("tensor<bf16>, tensor<bf16>, tensor<f32>", R"(
    %x = arith.constant dense<[256.0, 1.0, 1.0]> : tensor<3xbf16>
    %a = arith.constant dense<256.0> : tensor<bf16>
    %b = arith.constant dense<1.0> : tensor<bf16>
    %0 = arith.addf %a, %b : tensor<bf16>
    %1 = par.reduce sum %x dims [0] : tensor<3xbf16> -> tensor<bf16>
    %2 = par.einsum "a->"(%x) : (tensor<3xbf16>) -> tensor<f32>
    return %0, %1, %2 : tensor<bf16>, tensor<bf16>, tensor<f32>)");
  EXPECT_EQ(values, (std::vector<Values>{{256}, {258}, {258}}));
}

TEST_F(MeaningTest, einsumOfOneAndThreeOperands) {
  auto values = run("tensor<2xf64>, tensor<2x2xf64>, tensor<f64>", R"(
    %x = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf64>
    %v = arith.constant dense<[10.0, 1.0]> : tensor<2xf64>
    %0 = par.einsum "ab->b"(%x) : (tensor<2x2xf64>) -> tensor<2xf64>
    %1 = par.einsum "ab->ba"(%x) : (tensor<2x2xf64>) -> tensor<2x2xf64>
    %2 = par.einsum "a,ab,b->"(%v, %x, %v) : (tensor<2xf64>, tensor<2x2xf64>, tensor<2xf64>) -> tensor<f64>
    return %0, %1, %2 : tensor<2xf64>, tensor<2x2xf64>, tensor<f64>)");
  EXPECT_EQ(values, (std::vector<Values>{{4, 6}, {1, 3, 2, 4}, {154}}));
}

TEST_F(MeaningTest, shapes) {
  auto values =
      run("tensor<6xi32>, tensor<3x2xi32>, tensor<2x2xi32>, tensor<2x4xi32>, tensor<2xi32>, tensor<i32>", R"(
    %x = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
    %0 = par.reshape %x : tensor<2x3xi32> -> tensor<6xi32>
    %1 = par.transpose %x [1, 0] : tensor<2x3xi32> -> tensor<3x2xi32>
    %2 = par.slice %x from [0, 1] : tensor<2x3xi32> -> tensor<2x2xi32>
    %3 = par.pad %2 at [0, 1] : tensor<2x2xi32> -> tensor<2x4xi32>
    %4 = par.reduce min %x dims [1] : tensor<2x3xi32> -> tensor<2xi32>
    %5 = par.reduce max %x dims [0, 1] : tensor<2x3xi32> -> tensor<i32>
    return %0, %1, %2, %3, %4, %5 : tensor<6xi32>, tensor<3x2xi32>, tensor<2x2xi32>, tensor<2x4xi32>, tensor<2xi32>, tensor<i32>)");
  EXPECT_EQ(
      values,
      (std::vector<Values>{
          {1, 2, 3, 4, 5, 6}, {1, 4, 2, 5, 3, 6}, {2, 3, 5, 6}, {0, 2, 3, 0, 0, 5, 6, 0}, {1, 4}, {6}}));
}

TEST_F(MeaningTest, idsOutsideTheTableGiveZeros) {
  auto values = run("tensor<3x2xf64>, tensor<2x2xf64>", R"(
    %ids = arith.constant dense<[1, -1, 2]> : tensor<3xi32>
    %table = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf64>
    %0 = par.embedding %ids, %table : (tensor<3xi32>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %dy = arith.constant dense<7.0> : tensor<3x2xf64>
    %1 = par.embedding_backward %ids, %dy : (tensor<3xi32>, tensor<3x2xf64>) -> tensor<2x2xf64>
    return %0, %1 : tensor<3x2xf64>, tensor<2x2xf64>)");
  EXPECT_EQ(values, (std::vector<Values>{{3, 4, 0, 0, 0, 0}, {0, 0, 7, 7}}));
}

// Rows of two dimensions, numbers and an id alone; ids without a row give zeros and add nothing.
TEST_F(MeaningTest, rowsByNumber) {
  auto values = run(
      "tensor<2x1x2xf64>, tensor<3xf64>, tensor<f64>, tensor<2x1x2xf64>, tensor<3xf64>, tensor<2xf64>", R"(
    %two = arith.constant dense<[1, 5]> : tensor<2xi32>
    %three = arith.constant dense<[2, 0, 2]> : tensor<3xi32>
    %one = arith.constant dense<1> : tensor<i32>
    %table = arith.constant dense<[[[1.0, 2.0]], [[3.0, 4.0]]]> : tensor<2x1x2xf64>
    %numbers = arith.constant dense<[5.0, 6.0, 7.0]> : tensor<3xf64>
    %0 = par.take_rows %two, %table : (tensor<2xi32>, tensor<2x1x2xf64>) -> tensor<2x1x2xf64>
    %1 = par.take_rows %three, %numbers : (tensor<3xi32>, tensor<3xf64>) -> tensor<3xf64>
    %2 = par.take_rows %one, %numbers offset %one : (tensor<i32>, tensor<3xf64>, tensor<i32>) -> tensor<f64>
    %3 = par.add_rows %two, %table offset %one : (tensor<2xi32>, tensor<2x1x2xf64>, tensor<i32>) -> tensor<2x1x2xf64>
    %4 = par.add_rows %three, %numbers : (tensor<3xi32>, tensor<3xf64>) -> tensor<3xf64>
    %x = arith.constant dense<8.0> : tensor<f64>
    %5 = par.add_rows %one, %x : (tensor<i32>, tensor<f64>) -> tensor<2xf64>
    return %0, %1, %2, %3, %4, %5 : tensor<2x1x2xf64>, tensor<3xf64>, tensor<f64>, tensor<2x1x2xf64>, tensor<3xf64>, tensor<2xf64>)");
  EXPECT_EQ(values, (std::vector<Values>{{3, 4, 0, 0}, {7, 5, 7}, {5}, {1, 2, 0, 0}, {6, 0, 12}, {0, 8}}));
}

// Four equal classes: loss log 4. Two more are padding, however large. Target −100 counts nothing, in either
// direction.
TEST_F(MeaningTest, crossEntropy) {
  auto values = run("tensor<2xf64>, tensor<2xf64>, tensor<2x6xf64>", R"(
    %x = arith.constant dense<[[1.0, 1.0, 1.0, 1.0, 9.0, 9.0], [1.0, 1.0, 1.0, 1.0, 9.0, 9.0]]> : tensor<2x6xf64>
    %t = arith.constant dense<[-100, 2]> : tensor<2xi32>
    %d = arith.constant dense<2.0> : tensor<2xf64>
    %loss, %lse = par.cross_entropy %x, %t {classes = 4} : (tensor<2x6xf64>, tensor<2xi32>) -> (tensor<2xf64>, tensor<2xf64>)
    %dx = par.cross_entropy_backward %d, %x, %t, %lse {classes = 4}
        : (tensor<2xf64>, tensor<2x6xf64>, tensor<2xi32>, tensor<2xf64>) -> tensor<2x6xf64>
    return %loss, %lse, %dx : tensor<2xf64>, tensor<2xf64>, tensor<2x6xf64>)");
  ASSERT_EQ(values.size(), 3u);
  EXPECT_EQ(values[0][0], 0.0);
  EXPECT_NEAR(values[0][1], std::log(4.0), 1e-15);
  EXPECT_NEAR(values[1][0], 1 + std::log(4.0), 1e-15);
  Values expected = {0, 0, 0, 0, 0, 0, 0.5, 0.5, -1.5, 0.5, 0, 0};
  for (auto [actual, wanted] : llvm::zip(values[2], expected))
    EXPECT_NEAR(actual, wanted, 1e-15);
}

// Philox with the counter and key of the op's description, 0.25 of all words being below the threshold.
TEST_F(MeaningTest, dropoutDrawsPhilox) {
  auto values = run("tensor<2x3xf64>", R"(
    %x = arith.constant dense<3.0> : tensor<2x3xf64>
    %key = arith.constant dense<[7, -2]> : tensor<2xi32>
    %site = arith.constant dense<5> : tensor<i32>
    %row = arith.constant dense<11> : tensor<i32>
    %o = arith.constant dense<[1, 2]> : tensor<2xi32>
    %y = par.dropout %x key %key site %site row %row offsets %o {p = 0.25, strides = array<i64: 0, 4294967296>}
        : (tensor<2x3xf64>, tensor<2xi32>, tensor<i32>, tensor<i32>, tensor<2xi32>) -> tensor<2x3xf64>
    return %y : tensor<2x3xf64>)");
  ASSERT_EQ(values.size(), 1u);
  for (uint32_t i = 0; i < 2; ++i)
    for (uint32_t j = 0; j < 3; ++j)
      EXPECT_EQ(values[0][i * 3 + j],
                philoxWord0(0, 2 + j, 11 + 1 + i, 5, 7, 0xFFFFFFFE) >= 0x40000000u ? 4.0 : 0.0);
}
/// The mask of a diagonal is that of the positions, or the op says what it is not.
TEST_F(MeaningTest, positionsOfADiagonalAreLookedAt) {
  std::string begin = R"(func.func @main() -> tensor<1x3x1x1x1xf32> {
    %x = arith.constant dense<1.0> : tensor<1x3x1x1x1xf32>
    %k = arith.constant dense<1.0> : tensor<1x3x1x1xf32>
    %p = arith.constant dense<)";
  std::string end = R"(> : tensor<3xi32>
    %out, %lse = par.attention %x, %k, %k positions %p, %p {causal, diagonal, scale = 1.0 : f64}
        : (tensor<1x3x1x1x1xf32>, tensor<1x3x1x1xf32>, tensor<1x3x1x1xf32>, tensor<3xi32>, tensor<3xi32>)
          -> (tensor<1x3x1x1x1xf32>, tensor<1x1x1x3xf32>)
    return %out : tensor<1x3x1x1x1xf32>
  })";
  EXPECT_EQ(evaluate(parse(begin + "[5, 6, 7]" + end), {})[0].values, Values(3, 1));
  func::FuncOp wrong = parse(begin + "[5, 6, 8]" + end);
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  EXPECT_TRUE(failed(Interpreter(*module).run(wrong, Tensors())));
  EXPECT_NE(message.find("`diagonal`, but row 2 has position 8"), std::string::npos) << message;
}
} // namespace
