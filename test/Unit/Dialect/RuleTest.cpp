//===- RuleTest.cpp - what holds for a rule and its op --------------------------------------------------===//
#include "OpTest.h"
#include "par/Dialect/Par/IR/RuleBuilder.h"

using namespace mlir;
using namespace mlir::par;

namespace {
struct RuleTest : OpTest {
  /// The op `par.transpose` of a 4x8 tensor.
  Operation *transpose() {
    func::FuncOp function = parse(R"(
      func.func @main(%x: tensor<4x8xf64>) -> tensor<8x4xf64> {
        %y = par.transpose %x [1, 0] : tensor<4x8xf64> -> tensor<8x4xf64>
        return %y : tensor<8x4xf64>
      })");
    return &function.getBody().front().front();
  }

  /// What `rule` is told for the op, a line per violation; empty if it holds.
  std::string violations(Operation *op, RuleAttr rule) {
    std::string lines;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      lines += diagnostic.str() + "\n";
      return success();
    });
    EXPECT_EQ(succeeded(rule.verifyFor(op)), lines.empty());
    return lines;
  }
};

TEST_F(RuleTest, everyOpsOwnRuleHolds) {
  Operation *op = transpose();
  EXPECT_EQ(violations(op, cast<ShardingRuleOpInterface>(op).getShardingRule()), "");
}

TEST_F(RuleTest, factorsMultiplyToTheSizeOfTheirDimension) {
  Operation *op = transpose();
  RuleBuilder rule(op);
  int64_t rows = rule.addFactor(4), halves = rule.addFactor(2);
  rule.mapOperand(0, 0, rows).mapOperand(0, 1, halves).mapResult(0, 0, halves).mapResult(0, 1, rows);
  std::string lines = violations(op, rule.build());
  EXPECT_NE(lines.find("rule_c2: dimension 1 of operand 0 has size 8, its factors multiply to 2"),
            std::string::npos)
      << lines;
  EXPECT_NE(lines.find("rule_c2: dimension 0 of result 0 has size 8, its factors multiply to 2"),
            std::string::npos)
      << lines;
}
} // namespace
