//===- SelectBackward.cpp - the backward functions that a schedule runs ---------------------------------===//
#include "par/Dialect/Par/IR/Places.h"
#include "par/Schedule/Schedule.h"
#include "par/Transforms/Partition/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_SELECTBACKWARD
#include "par/Transforms/Partition/Passes.h.inc"
} // namespace mlir::par

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::par;

namespace {
struct SelectBackward : par::impl::SelectBackwardBase<SelectBackward> {
  using SelectBackwardBase::SelectBackwardBase;

  void runOnOperation() override {
    ChunkFunctions functions(getOperation());
    std::vector<int64_t> stageOf = functions.getStages();
    // Without a choice there is none to make.
    if (functions.getAll(Phase::Backward).empty() || functions.getAll(Phase::BackwardInput).empty())
      return;
    FailureOr<std::set<Phase>> run = listPhases(stageOf);
    if (failed(run))
      return; // par-to-rank says what the schedule needs
    SymbolTable symbols(getOperation());
    for (auto [phase, part] : {std::pair{Phase::Backward, Phase::Backward},
                               {Phase::BackwardLast, Phase::Backward},
                               {Phase::BackwardInput, Phase::BackwardInput},
                               {Phase::BackwardWeight, Phase::BackwardInput},
                               {Phase::BackwardWeightLast, Phase::BackwardInput}})
      for (func::FuncOp function : functions.getAll(phase))
        if (!run->count(part))
          symbols.erase(function);
    eraseUncalled(symbols);
  }

private:
  /// `dualpipe-v` has both ways to go back.
  FailureOr<std::set<Phase>> listPhases(ArrayRef<int64_t> stageOf) {
    if (schedule == kAutoSchedule)
      return std::set<Phase>{Phase::BackwardInput};
    int64_t stages = *llvm::max_element(stageOf) + 1;
    llvm::Expected<PipelineSchedule> lists =
        buildSchedule(schedule, {stages, microBatches, static_cast<int64_t>(stageOf.size()) / stages});
    if (!lists) {
      llvm::consumeError(lists.takeError());
      return failure();
    }
    std::set<Phase> phases;
    for (const std::vector<Action> &list : lists->stages)
      for (const Action &action : list)
        phases.insert(static_cast<Phase>(action.kind));
    return phases;
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
