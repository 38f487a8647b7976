//===- SelectBackward.cpp - the backward functions that a schedule runs ---------------------------------===//
#include "par/Dialect/Par/IR/Places.h"
#include "par/Plan/Plan.h"
#include "par/Transforms/Partition/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::par {
#define GEN_PASS_DEF_SELECTBACKWARD
#include "par/Transforms/Partition/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {
struct SelectBackward : par::impl::SelectBackwardBase<SelectBackward> {
  using SelectBackwardBase::SelectBackwardBase;

  void runOnOperation() override {
    std::optional<ScheduleKind> kind = findByName<ScheduleKind>(schedule);
    if (!kind) {
      getOperation().emitError("par-select-backward: no schedule is called '")
          << schedule << "'; expected " << llvm::join(getNames(ScheduleKind()), ", ");
      return signalPassFailure();
    }
    ChunkFunctions functions(getOperation());
    // Without a choice there is none to make.
    if (!functions.has(Phase::Backward) || !functions.has(Phase::BackwardInput))
      return;
    SymbolTable symbols(getOperation());
    if (!joinsBackward(*kind))
      erase({Phase::Backward, Phase::BackwardLast}, functions, symbols);
    if (!splitsBackward(*kind))
      erase({Phase::BackwardInput, Phase::BackwardWeight, Phase::BackwardWeightLast}, functions, symbols);
    eraseUncalled(symbols);
  }

private:
  static void erase(ArrayRef<Phase> phases, const ChunkFunctions &functions, SymbolTable &symbols) {
    for (Phase phase : phases)
      for (func::FuncOp function : functions.getAll(phase))
        symbols.erase(function);
  }

  /// Layers that nobody calls any more, nor any that these called.
  void eraseUncalled(SymbolTable &symbols) {
    SmallVector<func::FuncOp> uncalled;
    do {
      llvm::StringSet<> called;
      getOperation().walk([&](CallOp call) { called.insert(call.getCallee()); });
      uncalled.clear();
      for (auto function : getOperation().getOps<func::FuncOp>())
        if (function.isPrivate() && !getPhase(function) && !called.contains(function.getName()))
          uncalled.push_back(function);
      for (func::FuncOp function : uncalled)
        symbols.erase(function);
    } while (!uncalled.empty());
  }
};
} // namespace
