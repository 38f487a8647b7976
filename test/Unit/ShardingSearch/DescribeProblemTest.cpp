//===- DescribeProblemTest.cpp - what may be chosen ---------------------------------------------------===//
#include "Graphs.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::par;
using namespace mlir::par::test;

namespace {

/// Layers of two products; each is called with parameters of its own. `functions`: of equal bodies.
std::string writeLayers(int layers, int functions) {
  std::string text = "par.mesh @mesh <[\"tp\"=2]>\n", arguments, calls;
  for (int layer = 0; layer < layers; ++layer) {
    std::string n = std::to_string(layer);
    text += "par.variable @up" + n + " : tensor<16x8xf32> dims [\"\", \"\"] {role = #par.role<parameter>}\n";
    text +=
        "par.variable @down" + n + " : tensor<8x16xf32> dims [\"\", \"\"] {role = #par.role<parameter>}\n";
    arguments += ", %up" + n + ": tensor<16x8xf32> {par.place = #par.place<variable @up" + n + ">}, %down" +
                 n + ": tensor<8x16xf32> {par.place = #par.place<variable @down" + n + ">}";
    calls += "%x" + std::to_string(layer + 1) + " = par.call @layer" + std::to_string(layer % functions) +
             "(%x" + n + ", %up" + n + ", %down" + n +
             ") : (tensor<2x4x8xf32>, tensor<16x8xf32>, tensor<8x16xf32>) -> tensor<2x4x8xf32>\n";
  }
  for (int function = 0; function < functions; ++function)
    text += "func.func private @layer" + std::to_string(function) +
            "(%x: tensor<2x4x8xf32>, %up: tensor<16x8xf32>, %down: tensor<8x16xf32>) -> tensor<2x4x8xf32> {\n"
            "%h = par.einsum \"bse,me->bsm\"(%x, %up) : (tensor<2x4x8xf32>, tensor<16x8xf32>) -> "
            "tensor<2x4x16xf32>\n"
            "%y = par.einsum \"bsm,em->bse\"(%h, %down) : (tensor<2x4x16xf32>, tensor<8x16xf32>) -> "
            "tensor<2x4x8xf32>\n"
            "return %y : tensor<2x4x8xf32>\n}\n";
  return text +
         "par.variable @table : tensor<9x8xf32> dims [\"\", \"\"] {role = #par.role<parameter>}\n"
         "func.func @forward(%tokens: tensor<2x4xi32> {par.place = #par.place<input tokens>}, %table: "
         "tensor<9x8xf32> {par.place = #par.place<variable @table>}" +
         arguments + ") -> tensor<2x4x8xf32> {\n%x0 = par.embedding %tokens, %table : (tensor<2x4xi32>, " +
         "tensor<9x8xf32>) -> tensor<2x4x8xf32>\n" + calls + "return %x" + std::to_string(layers) +
         " : tensor<2x4x8xf32>\n}\n";
}

struct DescribeProblem : ::testing::Test {
  const ShardingProblem &describe(const std::string &text) {
    module = parseSourceString<ModuleOp>(text, &context);
    FailureOr<ShardingProblem> described = describeProblem(*module, StringAttr::get(&context, "tp"));
    EXPECT_TRUE(succeeded(described));
    problem = std::move(*described);
    return problem;
  }
  const TensorGroup &findGroup(StringRef name) {
    for (const TensorGroup &group : problem.groups)
      for (VariableOp variable : group.parameters)
        if (variable.getSymName() == name)
          return group;
    llvm_unreachable("no such parameter");
  }

  TestContext context;
  OwningOpRef<ModuleOp> module;
  ShardingProblem problem;
};

TEST_F(DescribeProblem, layersAreOneWithTheWeightOfTheirCalls) {
  for (int functions : {1, 3}) {
    describe(writeLayers(6, functions));
    ASSERT_EQ(problem.ops.size(), 3u) << functions;
    EXPECT_EQ(problem.ops[0].weight, 1) << functions;
    EXPECT_EQ(problem.ops[1].weight, 6) << functions;
    EXPECT_EQ(findGroup("up0").parameters.size(), 6u) << functions;
    EXPECT_EQ(&findGroup("up0"), &findGroup("up5")) << functions;
    EXPECT_NE(&findGroup("up0"), &findGroup("down0")) << functions;
  }
}

TEST_F(DescribeProblem, onlyWhatParametersLeadToIsSplit) {
  describe(writeOddGraph(4));
  for (const TensorGroup &group : problem.groups)
    if (group.isOpen)
      for (Layout layout : group.layouts)
        EXPECT_TRUE(layout == kWhole || layout == 2) << "the batch or the sequence is split";
}

TEST_F(DescribeProblem, whatIsSmallerThanTheAxisIsNotSplit) {
  describe(writeOddGraph(12));
  EXPECT_EQ(findGroup("table").layouts, (SmallVector<Layout>{kWhole, 0}));
  EXPECT_EQ(findGroup("square").layouts, (SmallVector<Layout>{kWhole}));
}

TEST_F(DescribeProblem, nothingToChoose) {
  describe(writeOddGraph(32));
  llvm::Expected<FoundShardings> found = searchShardings(problem, {1e9, 1e10, 1e9, 1e-7}, {});
  ASSERT_TRUE(static_cast<bool>(found)) << llvm::toString(found.takeError());
  for (auto &[name, layout] : getLayouts(problem, *found))
    EXPECT_EQ(layout, kWhole) << name;
  EXPECT_EQ(found->parameterBytes, 4 * (18 * 8 + 3 * 20 * 8 + 8 * 8));
  EXPECT_GT(found->seconds, 0);
  // The row for memory counts what is not to be chosen.
  llvm::Expected<FoundShardings> refused = searchShardings(problem, {1e9, 1e10, 1e9, 1e-7}, {2751});
  EXPECT_FALSE(static_cast<bool>(refused));
  llvm::consumeError(refused.takeError());
}

TEST_F(DescribeProblem, whatIsWrittenStays) {
  describe(writeOddGraph(2, {{"gate", ", compute = #par.sharding<@mesh, [{}, {\"tp\"}]>"},
                             {"up", ", compute = #par.sharding<@mesh, [{}, {}]>"}}));
  EXPECT_EQ(findGroup("gate").layouts, (SmallVector<Layout>{1}));
  EXPECT_EQ(findGroup("up").layouts, (SmallVector<Layout>{kWhole}));
  EXPECT_EQ(findGroup("down").layouts.size(), 3u);
}

/// Of 18 rows over 4 ranks one has 5; of 8 columns each has 2.
TEST_F(DescribeProblem, paddingIsWork) {
  describe(writeOddGraph(4));
  const OpChoice &head = problem.ops[problem.ops.size() - 3];
  ASSERT_EQ(head.factors.size(), 3u);
  for (size_t alternative : {1, 2}) {
    bool isRows =
        cast<ShardingRuleOpInterface>(head.op).getShardingRule().getSizes()[head.factors[alternative]] == 18;
    EXPECT_DOUBLE_EQ(head.flops[alternative] / head.flops[0], isRows ? 5.0 / 18 : 1.0 / 4);
  }
}

TEST_F(DescribeProblem, theSameEveryTime) {
  std::optional<std::vector<Layout>> first;
  for (int time = 0; time < 4; ++time) {
    describe(writeOddGraph(2));
    llvm::Expected<FoundShardings> found = searchShardings(problem, {1e9, 1e10, 1e9, 1e-7}, {2000});
    ASSERT_TRUE(static_cast<bool>(found));
    std::vector<Layout> layouts;
    for (auto &[name, layout] : getLayouts(problem, *found))
      layouts.push_back(layout);
    EXPECT_EQ(first.value_or(layouts), layouts);
    first = layouts;
  }
}

} // namespace
