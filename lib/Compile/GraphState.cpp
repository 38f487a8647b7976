//===- GraphState.cpp - which phases a graph went through -----------------------------------------------===//
#include "par/Compile/GraphState.h"
#include "par/Dialect/Par/IR/Places.h"

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

bool par::isCut(ModuleOp module) { return ChunkFunctions(module).getChunks().size() > 1; }

bool par::isDifferentiated(ModuleOp module) { return ChunkFunctions(module).isDifferentiated(); }

bool par::isPartitioned(ModuleOp module) {
  return llvm::any_of(module.getOps<func::FuncOp>(),
                      [](func::FuncOp function) { return function->hasAttr(ParDialect::kLocalAttr); });
}

bool par::isOverlapped(ModuleOp module) {
  return module.walk([](WaitOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

RankedTensorType par::findTokens(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    for (unsigned number = 0; number < function.getNumArguments(); ++number)
      // The global type where the module is local already.
      if (getInput(function, number) == InputKind::Tokens)
        return getGlobalType(function, number);
  return {};
}
