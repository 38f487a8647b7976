//===- PartitionTest.cpp - N ranks compute what one would -----------------------------------------------===//
// PAR_PROPERTY_SEED=n runs the one random graph n and prints it; PAR_PROPERTY_CASES=n the graphs 0 … n-1.
#include "RandomGraph.h"
#include "TestContext.h"
#include "TrainingCase.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::par;
using namespace mlir::par::test;

namespace {

class PartitionTest : public ::testing::Test {
protected:
  /// Empty if all ranks agree with one, else what is wrong.
  std::string check(const std::string &text, uint64_t seed) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return "the graph is not valid";
    int64_t microBatches = 1 + static_cast<int64_t>(seed % 2);
    TrainingCase test(context, std::move(module), seed, microBatches);
    // Every third graph is also partitioned without a backward pass, where other shardings are cheapest.
    if (seed % 3 == 0) {
      std::optional<Outcome> one = test.run("builtin.module()");
      std::string error = test.error;
      std::optional<Outcome> all = test.run(partitionForwardPipeline);
      if (!one || !all)
        return "forward: " + error + test.error;
      if (std::string difference = compareOutcomes(*one, *all, 1e-10); !difference.empty())
        return "forward: " + difference;
    }
    std::optional<Outcome> one = test.run(differentiatePipeline);
    std::string error = test.error;
    std::string options = drawOptions(seed);
    int64_t largestValue = seed % 3 ? 48 : 1 << 20;
    std::string partition =
        getPartitionPipeline(options, /*sequenceParallel=*/seed % 7 < 3, "1f1b", largestValue);
    std::optional<Outcome> all = test.run(partition);
    if (!one || !all)
      return error + test.error;
    if (std::string difference = compareOutcomes(*one, *all, 1e-10); !difference.empty())
      return difference;
    // Three of four graphs start collectives; some of those are also compared before they are lowered.
    if (seed % 4 != 0)
      partition = getOverlapPipeline(partition, microBatches, seed / 4);
    if (seed % 8 == 1) {
      std::optional<Outcome> overlapped = test.run(partition);
      if (!overlapped)
        return "overlapped: " + test.error;
      if (std::string difference = compareOutcomes(*one, *overlapped, 1e-10); !difference.empty())
        return "overlapped: " + difference;
    }
    std::optional<Outcome> lowered = test.run(getLowerPipeline(partition, microBatches, largestValue));
    if (!lowered)
      return "rank program: " + test.error;
    std::string difference = compareOutcomes(*one, *lowered, 1e-10);
    return difference.empty() ? "" : "rank program: " + difference;
  }

  /// Whether parameters stored in parts are gathered once per step, and what backward passes run again.
  static std::string drawOptions(uint64_t seed) {
    const char *policies[] = {"none", "selective", "full", "auto"};
    return std::string("recompute=") + policies[seed / 2 % 4] + (seed % 5 ? "" : " hold-gathered=true");
  }

  TestContext context;
};

TEST_F(PartitionTest, randomGraphs) {
  if (const char *seed = std::getenv("PAR_PROPERTY_SEED")) {
    uint64_t number = std::strtoull(seed, nullptr, 10);
    std::string text = writeRandomGraph(number);
    llvm::outs() << text; // first, should a pass crash
    llvm::outs().flush();
    EXPECT_EQ(check(text, number), "");
    return;
  }
  const char *count = std::getenv("PAR_PROPERTY_CASES");
  uint64_t cases = count ? std::strtoull(count, nullptr, 10) : 600;
  unsigned wrong = 0;
  for (uint64_t seed = 0; seed < cases; ++seed) {
    std::string difference = check(writeRandomGraph(seed), seed);
    EXPECT_EQ(difference, "") << "PAR_PROPERTY_SEED=" << seed;
    wrong += !difference.empty();
  }
  EXPECT_EQ(wrong, 0u) << "of " << cases << " graphs";
}

/// Column-parallel, GeLU, row-parallel with biases: the second bias must be added once, after the sum over
/// tp.
TEST_F(PartitionTest, columnThenRowParallel) {
  GraphWriter writer("<[\"dp\"=2, \"tp\"=2]>");
  Node x = writer.variable({4, 6}, "@mesh, [{\"dp\"}, {}]");
  Node up = writer.variable({8, 6}, "@mesh, [{\"tp\"}, {}]"),
       upBias = writer.variable({8}, "@mesh, [{\"tp\"}]");
  Node down = writer.variable({6, 8}, "@mesh, [{}, {\"tp\"}]"),
       downBias = writer.variable({6}, "@mesh, [{}]");
  Node h = writer.op("par.einsum \"be,me->bm\"(" + x.name + ", " + up.name +
                         ") : (tensor<4x6xf32>, tensor<8x6xf32>) -> tensor<4x8xf32>",
                     {4, 8});
  h = writer.pointwise(
      "arith.addf",
      {h, writer.op("par.expand " + upBias.name + " dims [0] : tensor<8xf32> -> tensor<4x8xf32>", {4, 8})});
  Node gate = writer.pointwise("math.erf",
                               {writer.pointwise("arith.mulf", {h, writer.constant("0.70710678", {4, 8})})});
  h = writer.pointwise("arith.mulf",
                       {h, writer.pointwise("arith.addf", {gate, writer.constant("1.0", {4, 8})})});
  Node y = writer.op("par.einsum \"bm,em->be\"(" + h.name + ", " + down.name +
                         ") : (tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<4x6xf32>",
                     {4, 6});
  writer.addToLoss(writer.pointwise(
      "arith.addf",
      {y,
       writer.op("par.expand " + downBias.name + " dims [0] : tensor<6xf32> -> tensor<4x6xf32>", {4, 6})}));
  EXPECT_EQ(check(writer.finish(), 3), "");
}

/// A weight used three times, each use sharded in another way.
TEST_F(PartitionTest, weightUsedThreeTimes) {
  GraphWriter writer("<[\"a\"=2, \"b\"=3]>");
  Node w = writer.variable({5, 5}, "@mesh, [{\"a\", ?}, {?}]"),
       x = writer.variable({4, 5}, "@mesh, [{\"b\"}, {}]");
  std::string types = " : (tensor<4x5xf32>, tensor<5x5xf32>) -> tensor<4x5xf32>";
  Node y = writer.op("par.einsum \"qx,xz->qz\"(" + x.name + ", " + w.name + ")" + types, {4, 5});
  y = writer.op("par.constrain " + y.name + " <@mesh, [{}, {\"b\"}]> : tensor<4x5xf32>", {4, 5});
  y = writer.op("par.einsum \"qx,zx->qz\"(" + y.name + ", " + w.name + ")" + types, {4, 5});
  y = writer.op("par.constrain " + y.name + " <@mesh, [{\"a\"}, {}]> : tensor<4x5xf32>", {4, 5});
  y = writer.pointwise("math.tanh", {y});
  writer.addToLoss(writer.op("par.einsum \"qx,xz->qz\"(" + y.name + ", " + w.name + ")" + types, {4, 5}));
  EXPECT_EQ(check(writer.finish(), 3), "");
}

/// A diamond: two paths of different shardings meet.
TEST_F(PartitionTest, diamond) {
  GraphWriter writer("<[\"a\"=2, \"b\"=2]>");
  Node x = writer.variable({6, 7}, "@mesh, [{\"a\"}, {\"b\"}]");
  Node left =
      writer.op("par.constrain " + x.name + " <@mesh, [{}, {\"a\", \"b\"}]> : tensor<6x7xf32>", {6, 7});
  left = writer.pointwise("math.cos", {left});
  Node right =
      writer.op("par.constrain " + x.name + " <@mesh, [{\"b\", \"a\"}, {}]> : tensor<6x7xf32>", {6, 7});
  right = writer.pointwise("par.softmax", {right});
  writer.addToLoss(writer.pointwise("arith.mulf", {left, right}));
  EXPECT_EQ(check(writer.finish(), 3), "");
}

/// Dimensions of size 1 have no factor at all.
TEST_F(PartitionTest, sizesOfOne) {
  GraphWriter writer("<[\"a\"=2]>");
  Node x = writer.variable({1, 1}, "@mesh, [{\"a\"}, {?}]");
  writer.addToLoss(writer.op("par.reshape " + x.name + " : tensor<1x1xf32> -> tensor<1xf32>", {1}));
  EXPECT_EQ(check(writer.finish(), 3), "");
}

/// The comparison itself: it must see a wrong element, a missing gradient, unequal replicas and padding that
/// is not zero.
TEST_F(PartitionTest, comparisonCanFail) {
  Outcome expected;
  expected.gradients["w"] = Tensor(RankedTensorType::get({2}, Float32Type::get(&context)), 1.0);
  EXPECT_EQ(compareOutcomes(expected, expected, 1e-10), "");
  for (int fault = 0; fault < 6; ++fault) {
    Outcome actual = expected;
    switch (fault) {
    case 0:
      actual.loss += 1e-9;
      break;
    case 1:
      actual.gradients["w"].values[1] += 1e-9;
      break;
    case 2:
      actual.gradients["w"].values[1] = std::nan("");
      break;
    case 3:
      actual.gradients.clear();
      break;
    case 4:
      actual.replicaDifference = 1e-6;
      break;
    default:
      actual.padding = 1e-300;
    }
    EXPECT_NE(compareOutcomes(expected, actual, 1e-10), "") << fault;
  }
}

} // namespace
