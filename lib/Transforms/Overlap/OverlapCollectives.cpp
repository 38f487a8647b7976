//===- OverlapCollectives.cpp - collectives begin early and end late ------------------------------------===//
#include "CollectiveOrder.h"
#include "par/Dialect/Par/IR/Places.h"
#include "par/Transforms/Overlap/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_OVERLAPCOLLECTIVES
#include "par/Transforms/Overlap/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {
struct OverlapCollectives : par::impl::OverlapCollectivesBase<OverlapCollectives> {
  using OverlapCollectivesBase::OverlapCollectivesBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (prefetchLimit < -1) {
      module.emitError("par-overlap-collectives: prefetch-limit is ")
          << int64_t(prefetchLimit) << ", expected at least -1";
      return signalPassFailure();
    }
    symbols.emplace(module);
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal() && function->hasAttr(ParDialect::kLocalAttr))
        overlap(function.front());
  }

  void overlap(Block &block) {
    SmallVector<Operation *> collectives;
    for (Operation &op : block)
      if (isa<CollectiveOpInterface>(op) && !op.hasAttr(ParDialect::kStartedAttr))
        collectives.push_back(&op);
    if (collectives.empty())
      return;
    for (Operation *collective : collectives)
      startCollective(collective);
    CollectiveOrder(block, prefetchLimit, [&](Value value) { return isKept(value); }).run();
    keepBlocking(block);
  }

  /// Arguments, what the function returns, and what lies where an argument does.
  bool isKept(Value value) {
    Operation *maker = value.getDefiningOp();
    if (!maker || llvm::any_of(value.getUsers(), [](Operation *user) { return isa<func::ReturnOp>(user); }))
      return true;
    auto call = dyn_cast<par::CallOp>(maker);
    auto callee = call ? symbols->lookup<func::FuncOp>(call.getCallee()) : func::FuncOp();
    if (!callee)
      return false;
    std::optional<int64_t> alias = getAlias(callee, cast<OpResult>(value).getResultNumber());
    return alias && isKept(call.getInputs()[*alias]);
  }

  /// Nothing is gained where nothing is computed meanwhile.
  static void keepBlocking(Block &block) {
    llvm::DenseMap<Operation *, int64_t> begun; // started → what was computed before
    int64_t computed = 0;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      computed += isCompute(&op);
      if (op.hasAttr(ParDialect::kStartedAttr))
        begun[&op] = computed;
      auto wait = dyn_cast<WaitOp>(op);
      if (!wait || begun.lookup(wait.getCollective()) != computed)
        continue;
      wait.getCollective()->removeAttr(ParDialect::kStartedAttr);
      wait.replaceAllUsesWith(wait.getCollective()->getResults());
      wait.erase();
    }
  }

  std::optional<SymbolTable> symbols;
};
} // namespace
