//===- GraphState.cpp - which phases a graph went through -----------------------------------------------===//
#include "par/Compile/GraphState.h"
#include "par/Dialect/Par/IR/Par.h"

using namespace mlir;
using namespace mlir::par;

/// A graph that someone annotated by hand has shardings here and there.
bool par::isPropagated(ModuleOp module) {
  auto lacksSharding = [](Operation *op) {
    bool lacks = op->getNumResults() && !op->hasAttr(ParDialect::kShardingAttr);
    return lacks ? WalkResult::interrupt() : WalkResult::advance();
  };
  return llvm::all_of(module.getOps<func::FuncOp>(),
                      [&](func::FuncOp function) { return !function.walk(lacksSharding).wasInterrupted(); });
}

bool par::isDifferentiated(ModuleOp module) {
  return llvm::any_of(module.getOps<func::FuncOp>(), [](func::FuncOp function) {
    auto phase = function->getAttrOfType<StringAttr>(ParDialect::kPhaseAttr);
    return phase && phase.getValue().starts_with("backward");
  });
}

bool par::isPartitioned(ModuleOp module) {
  return llvm::any_of(module.getOps<func::FuncOp>(),
                      [](func::FuncOp function) { return function->hasAttr(ParDialect::kLocalAttr); });
}

bool par::isOverlapped(ModuleOp module) {
  return module.walk([](WaitOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

RankedTensorType par::findTokens(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    for (unsigned number = 0; number < function.getNumArguments(); ++number) {
      auto input = function.getArgAttrOfType<StringAttr>(number, ParDialect::kInputAttr);
      if (!input || input != "tokens")
        continue;
      // The global type where the module is local already.
      auto global = function.getArgAttrOfType<TypeAttr>(number, ParDialect::kGlobalTypeAttr);
      return dyn_cast<RankedTensorType>(global ? global.getValue() : function.getArgumentTypes()[number]);
    }
  return {};
}
