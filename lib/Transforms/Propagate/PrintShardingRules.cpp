//===- PrintShardingRules.cpp - shows the rule of every op ----------------------------------------------===//
#include "par/Dialect/Par/IR/Par.h"
#include "par/Transforms/Propagate/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_PRINTSHARDINGRULES
#include "par/Transforms/Propagate/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {
struct PrintShardingRules : par::impl::PrintShardingRulesBase<PrintShardingRules> {
  void runOnOperation() override {
    auto isTensor = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.hasStaticShape();
    };
    bool valid = true;
    getOperation().walk([&](ShardingRuleOpInterface op) {
      if (!llvm::all_of(op->getOperandTypes(), isTensor) || !llvm::all_of(op->getResultTypes(), isTensor))
        return;
      RuleAttr rule = op.getShardingRule();
      valid &= succeeded(rule.verifyFor(op));
      op->emitRemark() << rule;
    });
    if (!valid)
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
