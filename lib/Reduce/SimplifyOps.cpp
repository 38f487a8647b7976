//===- SimplifyOps.cpp - smaller programs, whatever they compute ----------------------------------------===//
#include "par/Reduce/SimplifyOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Reducer/Tester.h"
#include "par/Dialect/Par/IR/Par.h"

using namespace mlir;
using namespace mlir::par;

/// Ops with their results as their only effect, and functions.
static SmallVector<Operation *> collectCandidates(ModuleOp module) {
  SmallVector<Operation *> candidates;
  module.walk([&](Operation *op) {
    bool constant = op->hasTrait<OpTrait::ConstantLike>();
    if (isa<func::FuncOp, VariableOp>(op) || (op->getNumResults() > 0 && !constant && isMemoryEffectFree(op)))
      candidates.push_back(op);
  });
  return candidates;
}

static void eraseDeadOps(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op))
      op->erase();
}

/// Way number `way` to do without an op: way k < operands replaces its only result by operand k, the next one
/// its results by zeros or erases it, if it has none. None = there are no more ways; false = this one does
/// not fit.
static std::optional<bool> simplify(Operation *op, unsigned way) {
  if (way > op->getNumOperands())
    return std::nullopt;
  if (way < op->getNumOperands()) {
    if (op->getNumResults() != 1 || op->getOperand(way).getType() != op->getResult(0).getType())
      return false;
    op->getResult(0).replaceAllUsesWith(op->getOperand(way));
    op->erase();
    return true;
  }
  OpBuilder builder(op);
  for (Value result : op->getResults()) {
    auto zero = dyn_cast_or_null<TypedAttr>(builder.getZeroAttr(result.getType()));
    if (!zero)
      return false;
    result.replaceAllUsesWith(builder.create<arith::ConstantOp>(op->getLoc(), zero));
  }
  op->erase();
  return true;
}

namespace {
struct SimplifyOps : PassWrapper<SimplifyOps, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SimplifyOps)
  SimplifyOps() = default;
  SimplifyOps(const SimplifyOps &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "par-simplify-ops"; }
  StringRef getDescription() const override {
    return "replaces ops by operands or zeros and erases functions while the test finds the rest interesting";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect>();
  }

  void runOnOperation() override {
    Tester tester(script, arguments);
    if (tester.isInteresting(getOperation()).first != Tester::Interestingness::True) {
      getOperation().emitError("par-simplify-ops: ")
          << script << " does not find the input interesting; it has to exit with 1 on it";
      return signalPassFailure();
    }
    while (pass(tester)) {
    }
  }

  /// Tries every op once, the last first: what it alone needed goes with it.
  bool pass(const Tester &tester) {
    bool changed = false;
    for (size_t number = collectCandidates(getOperation()).size(); number-- > 0;)
      changed |= tryOp(tester, number);
    return changed;
  }

  bool tryOp(const Tester &tester, size_t number) {
    for (unsigned way = 0;; ++way) {
      OwningOpRef<ModuleOp> trial = getOperation().clone();
      SmallVector<Operation *> candidates = collectCandidates(*trial);
      if (number >= candidates.size())
        return false;
      std::optional<bool> done = simplify(candidates[number], way);
      if (!done)
        return false;
      if (!*done)
        continue;
      eraseDeadOps(*trial);
      if (!isInteresting(tester, *trial))
        continue;
      getOperation().getBodyRegion().takeBody(trial->getBodyRegion());
      return true;
    }
  }

  bool isInteresting(const Tester &tester, ModuleOp trial) {
    // What does not verify is no candidate, and nothing to tell the user.
    ScopedDiagnosticHandler silent(&getContext(), [](Diagnostic &) { return success(); });
    return succeeded(verify(trial)) && tester.isInteresting(trial).first == Tester::Interestingness::True;
  }

  Option<std::string> script{
      *this, "test",
      llvm::cl::desc("program that exits with 1 when the module in the file it is given is interesting")};
  ListOption<std::string> arguments{*this, "test-arg",
                                    llvm::cl::desc("arguments of the program before the file")};
};
} // namespace

void par::registerSimplifyOps() { PassRegistration<SimplifyOps>(); }
