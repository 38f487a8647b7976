//===- OverlapCollectives.cpp - collectives begin early and end late ------------------------------------===//
#include "CollectiveOrder.h"
#include "par/Dialect/Par/IR/Places.h"
#include "par/Dialect/Par/IR/Sizes.h"
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
    if (prefetchLimit < -1 || bucketBytes < 0) {
      module.emitError("par-overlap-collectives: prefetch-limit is ")
          << int64_t(prefetchLimit) << " and bucket-bytes " << int64_t(bucketBytes)
          << ", expected at least -1 and 0";
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
    OverlapLimits limits{prefetchLimit < 0 ? getLargest(collectives) : int64_t(prefetchLimit), bucketBytes};
    for (Operation *collective : collectives)
      startCollective(collective);
    splitDeferrable(block);
    CollectiveOrder(block, limits, [&](Value value) { return isKept(value); }).run();
    keepBlocking(block);
  }

  /// Bytes that one gather or reduction takes at most.
  static int64_t getLargest(ArrayRef<Operation *> collectives) {
    int64_t most = 0;
    for (Operation *op : collectives)
      most = std::max(most, getTensorBytes(op->getResultTypes()) +
                                (isa<AllGatherOp>(op) ? 0 : getTensorBytes(op->getOperandTypes())));
    return most;
  }

  /// Reductions of several gradients, which need not wait for each other.
  static void splitDeferrable(Block &block) {
    Movable movable(block);
    SmallVector<Operation *> several;
    for (Operation &op : block)
      if (movable.isDeferrable(&op) && op.getNumOperands() > 1)
        several.push_back(&op);
    llvm::for_each(several, split);
  }

  static void split(Operation *op) {
    Operation *wait = *op->getUsers().begin();
    OpBuilder builder(op);
    for (unsigned number = 0; number < op->getNumOperands(); ++number) {
      OperationState state(op->getLoc(), op->getName());
      state.addAttributes(op->getAttrs());
      state.addOperands(op->getOperand(number));
      state.addTypes(op->getResult(number).getType());
      Operation *part = builder.create(state);
      wait->getResult(number).replaceAllUsesWith(part->getResult(0));
      startCollective(part);
    }
    wait->erase();
    op->erase();
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
