//===- FoldUnitsTest.cpp - a model with one layer of each kind ------------------------------------------===//
#include "par/Planner/FoldUnits.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Register/Register.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::par;

namespace {

/// Layers @a and @b in turns, each with a weight of its own, behind a function that changes the type.
constexpr const char *kModel = R"(
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
func.func @forward(%t: tensor<1x2xi32> {par.place = #par.place<input tokens>}, %e: tensor<8x4xf32> {par.place = #par.place<variable @e>},
    %u: tensor<4xf32> {par.place = #par.place<variable @u>}, %v: tensor<4xf32> {par.place = #par.place<variable @v>},
    %w: tensor<4xf32> {par.place = #par.place<variable @w>}) -> (tensor<f32> {par.place = #par.place<output loss>})
    attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %0 = par.call @first(%t, %e) : (tensor<1x2xi32>, tensor<8x4xf32>) -> tensor<4xf32>
  %1 = par.call @a(%0, %u) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = par.call @b(%v, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = par.call @a(%2, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = par.call @b(%v, %3) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %5 = par.reduce sum %4 dims [0] : tensor<4xf32> -> tensor<f32>
  return %5 : tensor<f32>
}
)";

TEST(FoldUnits, LeavesTheFirstOfEveryKindAndWhatItReads) {
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kModel, &context);
  ASSERT_TRUE(module);
  EXPECT_EQ(foldUnits(*module), (std::vector<int64_t>{0, 1, 2, 1, 2}));
  EXPECT_TRUE(succeeded(verify(*module)));
  auto forward = module->lookupSymbol<func::FuncOp>("forward");
  std::string calls;
  for (CallOp call : forward.getOps<CallOp>())
    calls += call.getCallee().str() + " ";
  EXPECT_EQ(calls, "first a b ");
  EXPECT_EQ(forward.getNumArguments(), 4u);
  EXPECT_FALSE(module->lookupSymbol("w")); // of the second @a alone
  EXPECT_TRUE(module->lookupSymbol("v"));
}

} // namespace
