//===- CompositeOpsTest.cpp - derivatives by finite differences, decompositions against meanings ------------===//
#include "par/Interpreter/Interpreter.h"
#include "par/Register/Register.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace mlir::par;

namespace {

/// A function @main whose first op is under test; `name` is the test's.
struct Case {
  const char *name;
  const char *text;
};

class CompositeOps : public ::testing::TestWithParam<Case> {
protected:
  void SetUp() override {
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    module = parseSourceString<ModuleOp>(GetParam().text, &context);
    ASSERT_TRUE(module);
    main = module->lookupSymbol<func::FuncOp>("main");
  }

  Operation *op() { return &main.getBody().front().front(); }

  /// Floats uniform in [-1, 1] (scalars in [0.1, 0.9]), integer vectors 0, 1, …, integer scalars 3.
  Tensors makeArguments(uint32_t seed) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> uniform(-1, 1), fraction(0.1, 0.9);
    Tensors arguments;
    for (Type type : main.getArgumentTypes()) {
      Tensor &argument = arguments.emplace_back(cast<RankedTensorType>(type));
      bool integer = isa<IntegerType>(argument.type.getElementType());
      for (int64_t i = 0; i < argument.size(); ++i)
        argument.values[i] = integer ? (argument.rank() == 0 ? 3 : i) : argument.rank() == 0 ? fraction(engine) : uniform(engine);
    }
    return arguments;
  }

  Tensors evaluate(const Tensors &arguments) {
    Interpreter interpreter(*module);
    FailureOr<Tensors> results = interpreter.run(main, arguments);
    EXPECT_TRUE(succeeded(results));
    return succeeded(results) ? *results : Tensors();
  }

  /// Makes @main return `values`.
  void setReturn(SmallVector<Value> values) {
    Operation *terminator = main.getBody().front().getTerminator();
    terminator->setOperands(values);
    main.setType(FunctionType::get(&context, main.getArgumentTypes(), ValueRange(values).getTypes()));
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  func::FuncOp main;
};

class Decomposition : public CompositeOps {};
class Derivative : public CompositeOps {};

TEST_P(Decomposition, equalsMeaning) {
  Tensors arguments = makeArguments(1);
  setReturn(llvm::to_vector_of<Value>(op()->getResults()));
  Tensors expected = evaluate(arguments);
  OpBuilder builder(op());
  auto kernel = cast<KernelOpInterface>(op());
  ASSERT_EQ(kernel.getKernelKind(), KernelKind::Composite);
  Operation *composite = op();
  FailureOr<SmallVector<Value>> values = kernel.decompose(builder);
  ASSERT_TRUE(succeeded(values));
  composite->replaceAllUsesWith(*values);
  composite->erase();
  ASSERT_TRUE(succeeded(mlir::verify(*module)));
  Tensors actual = evaluate(arguments);
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t result = 0; result < actual.size(); ++result)
    for (int64_t i = 0; i < expected[result].size(); ++i)
      ASSERT_NEAR(actual[result].values[i], expected[result].values[i], 1e-12 * (1 + std::abs(expected[result].values[i])))
          << "result " << result << ", element " << i;
}

/// ⟨cotangent, first result⟩ differentiated with respect to every float operand.
TEST_P(Derivative, equalsFiniteDifferences) {
  Tensors arguments = makeArguments(2);
  setReturn({op()->getResult(0)});
  auto inner = [&](const Tensors &at) {
    Tensors results = evaluate(at);
    double sum = 0;
    for (int64_t i = 0; i < results[0].size(); ++i)
      sum += results[0].values[i] * arguments.back().values[i];
    return sum;
  };
  SmallVector<bool> needed;
  for (Value operand : op()->getOperands())
    needed.push_back(isa<FloatType>(cast<RankedTensorType>(operand.getType()).getElementType()));
  std::vector<std::pair<unsigned, std::vector<double>>> expected;
  constexpr double kStep = 1e-5;
  for (unsigned operand = 0; operand < needed.size(); ++operand) {
    if (!needed[operand])
      continue;
    unsigned argument = cast<BlockArgument>(op()->getOperand(operand)).getArgNumber();
    auto &entry = expected.emplace_back(operand, std::vector<double>());
    for (double &value : arguments[argument].values) {
      double kept = value;
      value = kept + kStep;
      double above = inner(arguments);
      value = kept - kStep;
      double below = inner(arguments);
      value = kept;
      entry.second.push_back((above - below) / (2 * kStep));
    }
  }
  SmallVector<Value> cotangents(op()->getNumResults()), gradients(op()->getNumOperands());
  cotangents[0] = main.getArguments().back();
  OpBuilder builder(main.getBody().front().getTerminator());
  ASSERT_TRUE(succeeded(cast<DifferentiableOpInterface>(op()).differentiate(builder, cotangents, needed, gradients)));
  SmallVector<Value> returned;
  for (auto &[operand, values] : expected)
    returned.push_back(gradients[operand]);
  setReturn(returned);
  ASSERT_TRUE(succeeded(mlir::verify(*module)));
  Tensors actual = evaluate(arguments);
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t result = 0; result < actual.size(); ++result)
    for (int64_t i = 0; i < actual[result].size(); ++i)
      ASSERT_NEAR(actual[result].values[i], expected[result].second[i], 1e-7 * (1 + std::abs(expected[result].second[i])))
          << "operand " << expected[result].first << ", element " << i;
}

/// The last argument of every case is the cotangent of the first result.
const Case kForward[] = {
    {"rmsNorm", R"(func.func @main(%x: tensor<2x3x4xf64>, %w: tensor<4xf64>, %dy: tensor<2x3x4xf64>) -> tensor<2x3x4xf64> {
      %y, %r = par.rms_norm %x, %w {eps = 0.01} : (tensor<2x3x4xf64>, tensor<4xf64>) -> (tensor<2x3x4xf64>, tensor<2x3xf64>)
      return %y : tensor<2x3x4xf64> })"},
    {"layerNorm", R"(func.func @main(%x: tensor<3x4xf64>, %w: tensor<4xf64>, %b: tensor<4xf64>, %dy: tensor<3x4xf64>) -> tensor<3x4xf64> {
      %y, %m, %r = par.layer_norm %x, %w, %b {eps = 0.01} : (tensor<3x4xf64>, tensor<4xf64>, tensor<4xf64>)
          -> (tensor<3x4xf64>, tensor<3xf64>, tensor<3xf64>)
      return %y : tensor<3x4xf64> })"},
    {"layerNormOfVector", R"(func.func @main(%x: tensor<4xf64>, %w: tensor<4xf64>, %b: tensor<4xf64>, %dy: tensor<4xf64>) -> tensor<4xf64> {
      %y, %m, %r = par.layer_norm %x, %w, %b {eps = 0.01} : (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>)
          -> (tensor<4xf64>, tensor<f64>, tensor<f64>)
      return %y : tensor<4xf64> })"},
    {"softmax", R"(func.func @main(%x: tensor<3x5xf64>, %dy: tensor<3x5xf64>) -> tensor<3x5xf64> {
      %y = par.softmax %x : tensor<3x5xf64>
      return %y : tensor<3x5xf64> })"},
    {"rotary", R"(func.func @main(%x: tensor<2x3x2x4xf64>, %p: tensor<3xi32>, %dy: tensor<2x3x2x4xf64>) -> tensor<2x3x2x4xf64> {
      %y = par.rotary %x, %p {frequencies = array<f64: 1.0, 0.3>} : (tensor<2x3x2x4xf64>, tensor<3xi32>) -> tensor<2x3x2x4xf64>
      return %y : tensor<2x3x2x4xf64> })"},
    {"rotaryTransposed", R"(func.func @main(%x: tensor<2x3x4xf64>, %p: tensor<3xi32>, %dy: tensor<2x3x4xf64>) -> tensor<2x3x4xf64> {
      %y = par.rotary %x, %p {frequencies = array<f64: 1.0, 0.3>, transposed} : (tensor<2x3x4xf64>, tensor<3xi32>) -> tensor<2x3x4xf64>
      return %y : tensor<2x3x4xf64> })"},
};

const Case kBackward[] = {
    {"rmsNormBackward", R"(func.func @main(%dy: tensor<2x3x4xf64>, %x: tensor<2x3x4xf64>, %w: tensor<4xf64>, %r: tensor<2x3xf64>) {
      %dx, %dw = par.rms_norm_backward %dy, %x, %w, %r
          : (tensor<2x3x4xf64>, tensor<2x3x4xf64>, tensor<4xf64>, tensor<2x3xf64>) -> (tensor<2x3x4xf64>, tensor<4xf64>)
      return })"},
    {"layerNormBackward", R"(func.func @main(%dy: tensor<3x4xf64>, %x: tensor<3x4xf64>, %w: tensor<4xf64>, %m: tensor<3xf64>) {
      %dx, %dw, %db = par.layer_norm_backward %dy, %x, %w, %m, %m
          : (tensor<3x4xf64>, tensor<3x4xf64>, tensor<4xf64>, tensor<3xf64>, tensor<3xf64>) -> (tensor<3x4xf64>, tensor<4xf64>, tensor<4xf64>)
      return })"},
    {"softmaxBackward", R"(func.func @main(%dy: tensor<3x5xf64>, %y: tensor<3x5xf64>) {
      %dx = par.softmax_backward %dy, %y : tensor<3x5xf64>
      return })"},
};

#define SCALARS "%s0: tensor<f64>, %s1: tensor<f64>, %s2: tensor<f64>, %s3: tensor<f64>, %s4: tensor<f64>, %s5: tensor<f64>, " \
                "%s6: tensor<f64>, %s7: tensor<f64>"
#define SCALAR_TYPES "tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>"
const Case kOptimizers[] = {
    // Rank 0: only scalars are drawn positive, and v is a mean of squares.
    {"adamw", "func.func @main(%p: tensor<f64>, %g: tensor<f64>, %m: tensor<f64>, %v: tensor<f64>, " SCALARS ") {\n"
              "%a, %b, %c = par.adamw %p, %g, %m, %v scalars %s0, %s1, %s2, %s3, %s4, %s5, %s6, %s7 {decay} : (tensor<f64>, tensor<f64>, "
              "tensor<f64>, tensor<f64>, " SCALAR_TYPES ") -> (tensor<f64>, tensor<f64>, tensor<f64>)\n return }"},
    {"sgd", "func.func @main(%p: tensor<3x2xf64>, %g: tensor<3x2xf64>, %lr: tensor<f64>, %wd: tensor<f64>, %clip: tensor<f64>) {\n"
            "%a = par.sgd %p, %g scalars %lr, %wd, %clip {decay} : (tensor<3x2xf64>, tensor<3x2xf64>, tensor<f64>, tensor<f64>, "
            "tensor<f64>) -> tensor<3x2xf64>\n return }"},
};

/// Grouped heads; causal; a window; dropout, whose mask both passes draw alike; more rows of q than of k.
#define ATTENTION(rows, attributes, extraArguments, extraOperands, extraTypes)                                                  \
  "func.func @main(%q: tensor<2x" rows "x2x3x4xf64>, %k: tensor<2x3x2x4xf64>, %v: tensor<2x3x2x4xf64>, %qp: tensor<" rows       \
  "xi32>, %kp: tensor<3xi32>" extraArguments ", %dy: tensor<2x" rows "x2x3x4xf64>) -> tensor<2x" rows "x2x3x4xf64> {\n"         \
  "%o, %l = par.attention %q, %k, %v positions %qp, %kp " extraOperands " {scale = 0.5" attributes "} : (tensor<2x" rows        \
  "x2x3x4xf64>, tensor<2x3x2x4xf64>, tensor<2x3x2x4xf64>, tensor<" rows "xi32>, tensor<3xi32>" extraTypes ") -> (tensor<2x"     \
  rows "x2x3x4xf64>, tensor<2x2x3x" rows "xf64>)\n return %o : tensor<2x" rows "x2x3x4xf64> }"
const Case kAttention[] = {
    {"attention", ATTENTION("3", "", "", "", "")},
    {"attentionCausal", ATTENTION("3", ", causal", "", "", "")},
    {"attentionWindow", ATTENTION("5", ", causal, window = 2 : i64", "", "", "")},
    {"attentionDropout", ATTENTION("3", ", causal, dropout = 0.4, strides = array<i64: 0, 18, 9, 3, 1>",
                                   ", %key: tensor<2xi32>, %site: tensor<i32>, %offsets: tensor<5xi32>",
                                   "dropout %key site %site row %site offsets %offsets",
                                   ", tensor<2xi32>, tensor<i32>, tensor<i32>, tensor<5xi32>")},
};

std::string printName(const ::testing::TestParamInfo<Case> &info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Forward, Decomposition, ::testing::ValuesIn(kForward), printName);
INSTANTIATE_TEST_SUITE_P(Backward, Decomposition, ::testing::ValuesIn(kBackward), printName);
INSTANTIATE_TEST_SUITE_P(Optimizers, Decomposition, ::testing::ValuesIn(kOptimizers), printName);
INSTANTIATE_TEST_SUITE_P(Forward, Derivative, ::testing::ValuesIn(kForward), printName);
INSTANTIATE_TEST_SUITE_P(Attention, Derivative, ::testing::ValuesIn(kAttention), printName);

} // namespace
