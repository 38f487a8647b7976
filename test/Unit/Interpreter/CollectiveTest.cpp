//===- CollectiveTest.cpp - what every collective computes, on all ranks --------------------------------===//
#include "mlir/Parser/Parser.h"
#include "par/Interpreter/Interpreter.h"
#include "par/Register/Register.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::par;

namespace {

using Values = std::vector<double>;

class CollectiveTest : public ::testing::Test {
protected:
  CollectiveTest() {
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
  }

  /// Evaluates one op on a 2×2 mesh (a, b); element i of the tensor<4xf32> of rank r is 10·r + i.
  std::vector<Values> evaluate(const std::string &op, const std::string &result) {
    std::string text = "par.mesh @mesh <[\"a\"=2, \"b\"=2]>\nfunc.func @f(%x: tensor<4xf32>) -> " + result +
                       " {\n  %y = " + op + " -> " + result + "\n  return %y : " + result + "\n}";
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return {};
    Interpreter interpreter(*module, getMesh(*module));
    std::vector<Tensors> arguments(4);
    for (int rank = 0; rank < 4; ++rank) {
      Tensor &x = arguments[rank].emplace_back(RankedTensorType::get({4}, Float32Type::get(&context)));
      x.values = {10.0 * rank, 10.0 * rank + 1, 10.0 * rank + 2, 10.0 * rank + 3};
    }
    auto results = interpreter.run(interpreter.lookup("f"), arguments);
    std::vector<Values> values;
    if (succeeded(results))
      for (Tensors &tensors : *results)
        values.push_back(tensors[0].values);
    return values;
  }

  double wireBytes(int64_t n) {
    double bytes = -1;
    module->walk([&](CollectiveOpInterface op) { bytes = op.getWireBytes(n); });
    return bytes;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(CollectiveTest, allReduce) {
  auto sum = evaluate("par.all_reduce sum over [\"a\"] %x : (tensor<4xf32>)", "tensor<4xf32>");
  EXPECT_EQ(sum,
            (std::vector<Values>{{20, 22, 24, 26}, {40, 42, 44, 46}, {20, 22, 24, 26}, {40, 42, 44, 46}}));
  EXPECT_EQ(wireBytes(2), 16.0); // 2 · 16 bytes · 1/2
  auto max = evaluate("par.all_reduce max over [\"a\", \"b\"] %x : (tensor<4xf32>)", "tensor<4xf32>");
  EXPECT_EQ(max, std::vector<Values>(4, {30, 31, 32, 33}));
  auto min = evaluate("par.all_reduce min over [\"b\"] %x : (tensor<4xf32>)", "tensor<4xf32>");
  EXPECT_EQ(min[1], (Values{0, 1, 2, 3}));
  EXPECT_EQ(min[3], (Values{20, 21, 22, 23}));
}

TEST_F(CollectiveTest, reduceScatter) {
  auto values = evaluate("par.reduce_scatter over [\"b\"] dim 0 %x : (tensor<4xf32>)", "tensor<2xf32>");
  EXPECT_EQ(values, (std::vector<Values>{{10, 12}, {14, 16}, {50, 52}, {54, 56}}));
  EXPECT_EQ(wireBytes(2), 8.0);
}

TEST_F(CollectiveTest, allGatherFollowsTheListedOrder) {
  auto values = evaluate("par.all_gather over [\"b\", \"a\"] dim 0 %x : (tensor<4xf32>)", "tensor<16xf32>");
  Values expected{0, 1, 2, 3, 20, 21, 22, 23, 10, 11, 12, 13, 30, 31, 32, 33};
  EXPECT_EQ(values, std::vector<Values>(4, expected));
  EXPECT_EQ(wireBytes(4), 48.0); // the whole tensor has 64 bytes
}

TEST_F(CollectiveTest, allToAll) {
  auto values =
      evaluate("par.all_to_all over [\"b\"] split 0 concat 0 %x : (tensor<4xf32>)", "tensor<4xf32>");
  EXPECT_EQ(values,
            (std::vector<Values>{{0, 1, 10, 11}, {2, 3, 12, 13}, {20, 21, 30, 31}, {22, 23, 32, 33}}));
  EXPECT_EQ(wireBytes(2), 8.0);
}

TEST_F(CollectiveTest, permute) {
  auto values = evaluate("par.permute over [\"a\"] to [1, -1] %x : (tensor<4xf32>)", "tensor<4xf32>");
  EXPECT_EQ(values, (std::vector<Values>{{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 1, 2, 3}, {10, 11, 12, 13}}));
  EXPECT_EQ(wireBytes(2), 16.0);
}

TEST_F(CollectiveTest, broadcast) {
  auto values =
      evaluate("par.collective_broadcast over [\"b\"] root 1 %x : (tensor<4xf32>)", "tensor<4xf32>");
  EXPECT_EQ(values,
            (std::vector<Values>{{10, 11, 12, 13}, {10, 11, 12, 13}, {30, 31, 32, 33}, {30, 31, 32, 33}}));
  EXPECT_EQ(wireBytes(2), 8.0);
}

TEST_F(CollectiveTest, reduceTo) {
  auto values = evaluate("par.reduce_to over [\"b\"] root 1 %x : (tensor<4xf32>)", "tensor<4xf32>");
  EXPECT_EQ(values, (std::vector<Values>{{0, 0, 0, 0}, {10, 12, 14, 16}, {0, 0, 0, 0}, {50, 52, 54, 56}}));
}

TEST_F(CollectiveTest, gather) {
  auto values = evaluate("par.gather over [\"a\"] dim 0 root 1 %x : (tensor<4xf32>)", "tensor<8xf32>");
  EXPECT_EQ(values[0], Values(8, 0.0));
  EXPECT_EQ(values[3], (Values{10, 11, 12, 13, 30, 31, 32, 33}));
  EXPECT_EQ(wireBytes(2), 16.0);
}

TEST_F(CollectiveTest, scatter) {
  auto values = evaluate("par.scatter over [\"a\"] dim 0 root 1 %x : (tensor<4xf32>)", "tensor<2xf32>");
  EXPECT_EQ(values, (std::vector<Values>{{20, 21}, {30, 31}, {22, 23}, {32, 33}}));
  EXPECT_EQ(wireBytes(2), 8.0);
}

TEST_F(CollectiveTest, allSliceAndAxisIndex) {
  auto values = evaluate("par.all_slice over [\"b\", \"a\"] dim 0 %x : tensor<4xf32>", "tensor<1xf32>");
  EXPECT_EQ(values, (std::vector<Values>{{0}, {12}, {21}, {33}}));
}

TEST_F(CollectiveTest, twoDimensionalBlocks) {
  module = parseSourceString<ModuleOp>(R"(
    par.mesh @mesh <["a"=2]>
    func.func @f(%x: tensor<2x2xf32>) -> (tensor<1x4xf32>, tensor<2x4xf32>) {
      %y = par.all_to_all over ["a"] split 0 concat 1 %x : (tensor<2x2xf32>) -> tensor<1x4xf32>
      %z = par.all_gather over ["a"] dim 1 %x : (tensor<2x2xf32>) -> tensor<2x4xf32>
      return %y, %z : tensor<1x4xf32>, tensor<2x4xf32>
    })",
                                       &context);
  ASSERT_TRUE(module);
  Interpreter interpreter(*module, getMesh(*module));
  std::vector<Tensors> arguments(
      2, Tensors(1, Tensor(RankedTensorType::get({2, 2}, Float32Type::get(&context)))));
  arguments[0][0].values = {1, 2, 3, 4};
  arguments[1][0].values = {5, 6, 7, 8};
  auto results = interpreter.run(interpreter.lookup("f"), arguments);
  ASSERT_TRUE(succeeded(results));
  EXPECT_EQ((*results)[0][0].values, (Values{1, 2, 5, 6}));
  EXPECT_EQ((*results)[1][0].values, (Values{3, 4, 7, 8}));
  EXPECT_EQ((*results)[1][1].values, (Values{1, 2, 5, 6, 3, 4, 7, 8}));
}

} // namespace
