//===- InterpreterTest.cpp - evaluation of functions, errors and random numbers -------------------------===//
#include "par/Interpreter/Interpreter.h"
#include "mlir/Parser/Parser.h"
#include "par/Register/Register.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::par;

namespace {

class InterpreterTest : public ::testing::Test {
protected:
  InterpreterTest() {
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
  }

  /// Values of the first result of @main for one argument of `input`; the error text where it fails.
  std::vector<double> run(StringRef text, std::vector<double> input) {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      error += diagnostic.str();
      return success();
    });
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return {};
    Interpreter interpreter(*module);
    Tensor x(RankedTensorType::get({static_cast<int64_t>(input.size())}, Float32Type::get(&context)));
    x.values = std::move(input);
    FailureOr<Tensors> results = interpreter.run(interpreter.lookup("main"), Tensors{x});
    return succeeded(results) ? results->front().values : std::vector<double>();
  }

  MLIRContext context;
  std::string error;
};

TEST_F(InterpreterTest, callsRecurse) {
  EXPECT_EQ(run(R"(
    func.func private @twice(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) { return %x, %x : tensor<2xf32>, tensor<2xf32> }
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %y:2 = par.call @twice(%x) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
      %z:2 = func.call @twice(%y#1) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
      return %z#0 : tensor<2xf32>
    })",
                {3, 4}),
            (std::vector<double>{3, 4}));
  EXPECT_EQ(error, "");
}

TEST_F(InterpreterTest, reshardCutsAndPads) {
  EXPECT_EQ(run(R"(
    par.mesh @mesh <["a"=2]>
    func.func @main(%x: tensor<3xf32>) -> tensor<4xf32> {
      %y = par.reshard %x <@mesh, [{"a"}]> {logical = array<i64: 3>} : tensor<3xf32> -> tensor<4xf32>
      return %y : tensor<4xf32>
    })",
                {1, 2, 3}),
            (std::vector<double>{1, 2, 3, 0}));
  // The fourth element is padding whatever it holds.
  EXPECT_EQ(run(R"(
    par.mesh @mesh <["a"=2]>
    func.func @main(%x: tensor<4xf32>) -> tensor<6xf32> {
      %y = par.reshard %x <@mesh, [{"a"}]> {logical = array<i64: 3>} : tensor<4xf32> -> tensor<6xf32>
      return %y : tensor<6xf32>
    })",
                {1, 2, 3, 9}),
            (std::vector<double>{1, 2, 3, 0, 0, 0}));
}

TEST_F(InterpreterTest, constrainAndTransferKeepTheValue) {
  EXPECT_EQ(run(R"(
    par.mesh @mesh <["a"=2]>
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %y = par.constrain %x <@mesh, [{"a"}]> : tensor<2xf32>
      %z = par.transfer %y to <host> : tensor<2xf32>
      return %z : tensor<2xf32>
    })",
                {5, 6}),
            (std::vector<double>{5, 6}));
}

TEST_F(InterpreterTest, errorsNameTheOp) {
  run(R"(func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
    %y = builtin.unrealized_conversion_cast %x : tensor<1xf32> to tensor<1xf32>
    return %y : tensor<1xf32> })",
      {1});
  EXPECT_NE(error.find("'builtin.unrealized_conversion_cast' op cannot be interpreted"), std::string::npos)
      << error;
  error.clear();
  run(R"(func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
    %y = par.call @main(%x) : (tensor<1xf32>) -> tensor<1xf32>
    return %y : tensor<1xf32> })",
      {1});
  EXPECT_NE(error.find("@main: it calls itself"), std::string::npos) << error;
  error.clear();
  run("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }", {1});
  EXPECT_NE(error.find("argument 0 on rank 0 is 'tensor<1xf32>', expected 'tensor<2xf32>'"),
            std::string::npos)
      << error;
  error.clear();
  run(R"(par.mesh @mesh <["a"=1]>
    func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
    %y = par.all_reduce sum over ["a"] %x : (tensor<1xf32>) -> tensor<1xf32>
    return %y : tensor<1xf32> })",
      {1});
  EXPECT_NE(error.find("on one rank without a mesh"), std::string::npos) << error;
}

/// Known answers of Random123 1.14 (kat_vectors, philox4x32 10).
TEST(PhiloxTest, knownAnswers) {
  EXPECT_EQ(philoxWord0(0, 0, 0, 0, 0, 0), 0x6627e8d5u);
  EXPECT_EQ(philoxWord0(~0u, ~0u, ~0u, ~0u, ~0u, ~0u), 0x408f276du);
  EXPECT_EQ(philoxWord0(0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0), 0xd16cfe09u);
}

TEST(TensorTest, indicesAndStrides) {
  EXPECT_EQ(rowMajorStrides({2, 3, 4}), (SmallVector<int64_t>{12, 4, 1}));
  int visits = 0;
  forEachIndex({}, [&](ArrayRef<int64_t> index) { visits += index.empty(); });
  EXPECT_EQ(visits, 1);
  std::vector<SmallVector<int64_t>> seen;
  forEachIndex({2, 2}, [&](ArrayRef<int64_t> index) { seen.emplace_back(index); });
  EXPECT_EQ(seen, (std::vector<SmallVector<int64_t>>{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
  forEachIndex({3, 0}, [&](ArrayRef<int64_t>) { FAIL() << "no index in an empty shape"; });
}

} // namespace
