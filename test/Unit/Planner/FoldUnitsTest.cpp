//===- FoldUnitsTest.cpp - a model with one layer of each kind ------------------------------------------===//
#include "par/Planner/FoldUnits.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Register/Register.h"
#include <gtest/gtest.h>

#include <set>

using namespace mlir;
using namespace mlir::par;

namespace {

/// Layers @a and @b in turns, behind a function that changes the type. `calls`: of @forward, from %1 to %4.
std::string writeModel(const std::string &calls) {
  return R"(
par.variable @e : tensor<8x4xf32> dims ["vocab", "embed"] {role = #par.role<parameter>, init = #par.init<normal, 1.0>}
par.variable @u : tensor<4xf32> dims ["embed"] {role = #par.role<parameter>, init = #par.init<normal, 1.0>}
par.variable @v : tensor<4xf32> dims ["embed"] {role = #par.role<parameter>, init = #par.init<normal, 1.0>}
par.variable @w : tensor<4xf32> dims ["embed"] {role = #par.role<parameter>, init = #par.init<normal, 1.0>}
func.func private @first(%t: tensor<1x2xi32>, %e: tensor<8x4xf32>) -> tensor<4xf32> {
  %0 = par.embedding %t, %e : (tensor<1x2xi32>, tensor<8x4xf32>) -> tensor<1x2x4xf32>
  %1 = par.reduce sum %0 dims [0, 1] : tensor<1x2x4xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @a(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.mulf %x, %w : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @b(%w: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %w : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @r(%x: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = arith.addf %x, %w : tensor<4xf32>
  %1 = arith.mulf %0, %w : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
func.func private @last(%x: tensor<4xf32>, %e: tensor<8x4xf32>) -> tensor<f32> {
  %0 = par.reduce sum %e dims [0] : tensor<8x4xf32> -> tensor<4xf32>
  %1 = arith.addf %x, %0 : tensor<4xf32>
  %2 = par.reduce sum %1 dims [0] : tensor<4xf32> -> tensor<f32>
  return %2 : tensor<f32>
}
func.func @forward(%t: tensor<1x2xi32> {par.place = #par.place<input tokens>}, %e: tensor<8x4xf32> {par.place = #par.place<variable @e>},
    %u: tensor<4xf32> {par.place = #par.place<variable @u>}, %v: tensor<4xf32> {par.place = #par.place<variable @v>},
    %w: tensor<4xf32> {par.place = #par.place<variable @w>}) -> (tensor<f32> {par.place = #par.place<output loss>})
    attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %0 = par.call @first(%t, %e) : (tensor<1x2xi32>, tensor<8x4xf32>) -> tensor<4xf32>
)" + calls +
         R"(
  %5 = par.call @last(%4, %e) : (tensor<4xf32>, tensor<8x4xf32>) -> tensor<f32>
  return %5 : tensor<f32>
}
)";
}

std::string call(int64_t number, const std::string &function, const std::string &operands) {
  return "  %" + std::to_string(number) + " = par.call @" + function + "(" + operands +
         ") : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n";
}

/// A layer with a loss of its own beside what it passes on.
std::string callBoth(int64_t number, const std::string &operands) {
  return "  %" + std::to_string(number) + ":2 = par.call @r(" + operands +
         ") : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)\n";
}

std::string add(const std::string &name, const std::string &operands) {
  return "  %" + name + " = arith.addf " + operands + " : tensor<4xf32>\n";
}

class FoldUnitsTest : public ::testing::Test {
protected:
  FoldUnitsTest() {
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
  }

  void fold(const std::string &calls) {
    module = parseSourceString<ModuleOp>(writeModel(calls), &context);
    ASSERT_TRUE(module);
    folded = foldUnits(*module);
    EXPECT_TRUE(succeeded(verify(*module)));
  }

  std::string listCalls() {
    std::string calls;
    for (CallOp call : module->lookupSymbol<func::FuncOp>("forward").getOps<CallOp>())
      calls += call.getCallee().str() + " ";
    return calls;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  FoldedUnits folded;
};

using Shared = std::vector<SharedVariable>;

TEST_F(FoldUnitsTest, LeavesTheFirstOfEveryKindAndWhatItReads) {
  fold(call(1, "a", "%0, %u") + call(2, "b", "%v, %1") + call(3, "a", "%2, %w") + call(4, "b", "%v, %3"));
  EXPECT_EQ(folded.kinds, (std::vector<int64_t>{0, 1, 2, 1, 2, 3}));
  EXPECT_EQ(listCalls(), "first a b last ");
  EXPECT_EQ(module->lookupSymbol<func::FuncOp>("forward").getNumArguments(), 4u);
  EXPECT_FALSE(module->lookupSymbol("w")); // of the second @a alone
  EXPECT_TRUE(module->lookupSymbol("v"));
}

// A table of both ends, and a weight of two layers, are known to be one variable.
TEST_F(FoldUnitsTest, SaysWhichVariablesSeveralUnitsRead) {
  fold(call(1, "a", "%0, %u") + call(2, "b", "%v, %1") + call(3, "a", "%2, %w") + call(4, "b", "%v, %3"));
  ASSERT_EQ(folded.shared.size(), 6u);
  ASSERT_EQ(folded.shared[0].size(), 1u);
  EXPECT_EQ(folded.shared[0].front().like, "e");
  EXPECT_EQ(folded.shared[5], folded.shared[0]);
  ASSERT_EQ(folded.shared[2].size(), 1u);
  EXPECT_EQ(folded.shared[2].front().like, "v");
  EXPECT_EQ(folded.shared[4], folded.shared[2]);
  EXPECT_NE(folded.shared[2].front().number, folded.shared[0].front().number);
  EXPECT_EQ(folded.shared[1], Shared());
  EXPECT_EQ(folded.shared[3], Shared());
}

// Where one layer of a kind shares its weight, the others say in whose place theirs are.
TEST_F(FoldUnitsTest, ListsThePlaceOfASharedVariableForAllOfAKind) {
  fold(call(1, "a", "%0, %u") + call(2, "a", "%1, %v") + call(3, "a", "%2, %v") + call(4, "a", "%3, %w"));
  EXPECT_EQ(folded.kinds, (std::vector<int64_t>{0, 1, 1, 1, 1, 2}));
  std::set<int64_t> numbers;
  for (size_t unit = 1; unit < 5; ++unit) {
    ASSERT_EQ(folded.shared[unit].size(), 1u);
    EXPECT_EQ(folded.shared[unit].front().like, "u");
    numbers.insert(folded.shared[unit].front().number);
  }
  EXPECT_EQ(numbers.size(), 3u);
  EXPECT_EQ(folded.shared[2], folded.shared[3]);
}

// An op between two layers belongs to the one before it, which is then like no other.
TEST_F(FoldUnitsTest, ALayerWithMoreBehindItIsOfNoOthersKind) {
  fold(call(1, "a", "%0, %u") + call(2, "a", "%1, %v") + "  %7 = arith.addf %2, %2 : tensor<4xf32>\n" +
       call(3, "a", "%7, %w") + call(4, "b", "%v, %3"));
  EXPECT_EQ(folded.kinds, (std::vector<int64_t>{0, 1, 2, 1, 3, 4}));
  EXPECT_EQ(listCalls(), "first a a b last ");
}

// Layers that also return a router's loss are of one kind: what is added up in the end is the first one's,
// thrice.
TEST_F(FoldUnitsTest, ALayerMayReturnMoreThanOneValue) {
  fold(callBoth(1, "%0, %u") + callBoth(2, "%1#0, %v") + callBoth(3, "%2#0, %w") + call(4, "a", "%3#0, %v") +
       add("s", "%1#1, %2#1") + add("s2", "%s, %3#1") + add("z", "%4, %s2"));
  EXPECT_EQ(folded.kinds, (std::vector<int64_t>{0, 1, 1, 1, 2, 3}));
  EXPECT_EQ(listCalls(), "first r a last ");
}

// The same where the sum runs along with the layers: each layer and its addition pass two values on.
TEST_F(FoldUnitsTest, ASumMayRunAlongWithLayers) {
  fold(callBoth(1, "%0, %u") + add("s", "%1#1, %1#1") + callBoth(2, "%1#0, %v") + add("s2", "%s, %2#1") +
       callBoth(3, "%2#0, %w") + add("q", "%s2, %3#1") + call(4, "a", "%3#0, %v") + add("z", "%4, %q"));
  EXPECT_EQ(folded.kinds, (std::vector<int64_t>{0, 1, 2, 2, 3, 4}));
  EXPECT_EQ(listCalls(), "first r r a last ");
}

} // namespace
