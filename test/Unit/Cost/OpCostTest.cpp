//===- OpCostTest.cpp - work and traffic of ops on one rank ---------------------------------------------===//
#include "par/Cost/OpCost.h"
#include "mlir/Parser/Parser.h"
#include "par/Register/Register.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::par;

namespace {

class OpCostTest : public ::testing::Test {
protected:
  OpCostTest() {
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
  }

  /// Of the op whose result is returned by a function with this body; x: 8x6, w: 4x6, y: 8x4.
  OpCost estimate(const std::string &arguments, const std::string &body, const std::string &mesh) {
    std::string text = mesh + "\nfunc.func @f(" + arguments + ") -> tensor<8x4xf32> {\n" + body +
                       "\n return %y : tensor<8x4xf32>\n}\n";
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    OpCost cost;
    module->walk([&](Operation *op) {
      if (op->hasAttr("this"))
        cost = estimateCost(op, {400e12, 3.35e12, 100e9, 10e-6});
    });
    return cost;
  }

  static std::string shard(const std::string &dims) { return "#par.sharding<@mesh, [" + dims + "]>"; }
  /// y = x·wᵀ with shardings of x, w and y.
  OpCost product(const std::string &x, const std::string &w, const std::string &y,
                 const std::string &after = "") {
    return estimate("%x: tensor<8x6xf32> {par.sharding = " + shard(x) +
                        "}, %w: tensor<4x6xf32> {par.sharding = " + shard(w) + "}",
                    "%" + std::string(after.empty() ? "y" : "z") +
                        " = par.einsum \"be,me->bm\"(%x, %w) {this, par.sharding = [" + shard(y) +
                        "]} : (tensor<8x6xf32>, tensor<4x6xf32>) -> tensor<8x4xf32>\n" + after,
                    "par.mesh @mesh <[\"dp\"=2, \"tp\"=2]>");
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

constexpr double kFlops = 2 * 8 * 6 * 4, kBytes = 4 * (8 * 6 + 4 * 6 + 8 * 4);

TEST_F(OpCostTest, withoutMesh) {
  OpCost cost =
      estimate("%x: tensor<8x6xf32>, %w: tensor<4x6xf32>",
               "%y = par.einsum \"be,me->bm\"(%x, %w) {this} : (tensor<8x6xf32>, tensor<4x6xf32>) -> "
               "tensor<8x4xf32>",
               "");
  EXPECT_EQ(cost.flops, kFlops);
  EXPECT_EQ(cost.bytes, kBytes);
  EXPECT_EQ(cost.gathered + cost.summed, 0);
}

TEST_F(OpCostTest, batchIsDivided) {
  OpCost cost = product("{\"dp\"}, {}", "{}, {}", "{\"dp\"}, {}");
  EXPECT_EQ(cost.flops, kFlops / 2);
  EXPECT_EQ(cost.bytes, 4 * (4 * 6 + 4 * 6 + 4 * 4));
  EXPECT_EQ(cost.gathered + cost.summed, 0);
}

/// 2B(n−1)/n for the whole sum.
TEST_F(OpCostTest, contractionIsSummed) {
  OpCost cost = product("{}, {\"tp\"}", "{}, {\"tp\"}", "{}, {}");
  EXPECT_EQ(cost.flops, kFlops / 2);
  EXPECT_EQ(cost.summed, 2 * (4 * 8 * 4) / 2);
  EXPECT_EQ(cost.gathered, 0);
}

/// B(n−1)/n where a constraint behind it wants a part only.
TEST_F(OpCostTest, sumIsScattered) {
  OpCost cost = product("{}, {\"tp\"}", "{}, {\"tp\"}", "{}, {}",
                        "%y = par.constrain %z <@mesh, [{\"tp\"}, {?}]> {par.sharding = [" +
                            shard("{\"tp\"}, {}") + "]} : tensor<8x4xf32>");
  EXPECT_EQ(cost.summed, (4 * 8 * 4) / 2);
}

/// The weight is gathered, as par-insert-reshards will, not the larger x.
TEST_F(OpCostTest, operandIsGathered) {
  OpCost cost = product("{\"dp\"}, {}", "{}, {\"dp\"}", "{\"dp\"}, {}");
  EXPECT_EQ(cost.gathered, (4 * 4 * 6) / 2);
  EXPECT_EQ(cost.summed, 0);
}

TEST_F(OpCostTest, constraintGathers) {
  OpCost cost = estimate("%x: tensor<8x4xf32> {par.sharding = " + shard("{\"tp\"}, {}") + "}",
                         "%y = par.constrain %x <@mesh, [{}, {?}]> {this, par.sharding = [" +
                             shard("{}, {}") + "]} : tensor<8x4xf32>",
                         "par.mesh @mesh <[\"tp\"=2]>");
  EXPECT_EQ(cost.gathered, (4 * 8 * 4) / 2);
  EXPECT_EQ(cost.flops + cost.summed, 0);
}

/// The slower of arithmetic and memory, then latency and bytes of every collective.
TEST_F(OpCostTest, seconds) {
  DeviceRates device{100, 10, 5, 3};
  EXPECT_EQ(getSeconds({200, 1, 0, 0}, device), 2);
  EXPECT_EQ(getSeconds({200, 50, 0, 0}, device), 5);
  EXPECT_EQ(getSeconds({200, 50, 10, 0}, device), 5 + 3 + 2);
  EXPECT_EQ(getSeconds({200, 50, 10, 20}, device), 5 + 3 + 2 + 3 + 4);
}

} // namespace
