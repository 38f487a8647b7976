//===- ReceivedValuesTest.cpp - results that are what a chunk received ----------------------------------===//
#include "lib/Transforms/Lower/ReceivedValues.h"
#include "mlir/Parser/Parser.h"
#include "par/Register/Register.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::par;

namespace {

/// Backward functions of one chunk that hand on a gradient: one as it came, the other `returned`.
class ReceivedValuesTest : public ::testing::Test {
protected:
  bool isReceived(const std::string &returned) {
    DialectRegistry registry;
    registerDialects(registry);
    MLIRContext context(registry);
    std::string head = "(%dy: tensor<4xf32> {par.place = #par.place<boundary 0>}) -> (tensor<4xf32> "
                       "{par.place = #par.place<boundary 0>}) attributes {par.phase = #par.phase<";
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
        "func.func @whole" + head + "backward, chunk = 1>} { return %dy : tensor<4xf32> }\n" +
            "func.func @part" + head +
            "backward_input, chunk = 1>} { %sum = arith.addf %dy, %dy : tensor<4xf32> return %" + returned +
            " : tensor<4xf32> }",
        &context);
    if (!module) {
      ADD_FAILURE() << "does not parse";
      return false;
    }
    ReceivedValues received{ChunkFunctions(*module)};
    auto whole = module->lookupSymbol<func::FuncOp>("whole");
    return received.findArgument(whole, 0).has_value();
  }
};

TEST_F(ReceivedValuesTest, IsWhereAllFunctionsReturnWhatCame) { EXPECT_TRUE(isReceived("dy")); }
TEST_F(ReceivedValuesTest, IsNotWhereOneComputesIt) { EXPECT_FALSE(isReceived("sum")); }

} // namespace
