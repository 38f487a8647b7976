//===- SelectResiduals.cpp - chooses which forward values are saved for the backward pass ---------------===//
#include "Differentiator.h"
#include "par/Transforms/Differentiate/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_SELECTRESIDUALS
#include "par/Transforms/Differentiate/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {

struct SelectResidualsPass : public par::impl::SelectResidualsBase<SelectResidualsPass> {
  using SelectResidualsBase::SelectResidualsBase;
  void runOnOperation() override;

private:
  void clearMarks(func::FuncOp function);
  void mark(func::FuncOp function, JointFunction &joint, const DenseSet<Value> &saved);
  void markOp(Operation *op, Operation *clone, const DenseSet<Value> &saved);
};

} // namespace

void SelectResidualsPass::clearMarks(func::FuncOp function) {
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    function.removeArgAttr(index, kSaveAttr);
  function.walk([](Operation *op) { op->removeAttr(kSaveAttr); });
}

void SelectResidualsPass::markOp(Operation *op, Operation *clone, const DenseSet<Value> &saved) {
  SmallVector<int64_t> numbers;
  for (unsigned index = 0; index < op->getNumResults(); ++index) {
    Value value = clone->getResult(index);
    if (!saved.contains(value))
      continue;
    numbers.push_back(index);
    if (explain)
      op->emitRemark("saved: result ") << index << ", " << getLocalBytes(value) << " bytes";
  }
  if (!numbers.empty())
    op->setAttr(kSaveAttr, DenseI64ArrayAttr::get(op->getContext(), numbers));
}

/// The joint function's forward part has the ops of `function` in the same order.
void SelectResidualsPass::mark(func::FuncOp function, JointFunction &joint, const DenseSet<Value> &saved) {
  for (BlockArgument argument : function.getArguments()) {
    Value clone = joint.getBody().getArgument(argument.getArgNumber());
    if (!saved.contains(clone))
      continue;
    function.setArgAttr(argument.getArgNumber(), kSaveAttr, UnitAttr::get(&getContext()));
    if (explain)
      function.emitRemark("saved: argument ")
          << argument.getArgNumber() << ", " << getLocalBytes(clone) << " bytes"
          << (joint.info.isChunk ? "" : ", kept by the caller");
  }
  for (auto [op, clone] : llvm::zip(function.getBody().front().without_terminator(), joint.forwardOps))
    markOp(&op, clone, saved);
}

void SelectResidualsPass::runOnOperation() {
  if (recompute != "none") {
    getOperation().emitError("par-select-residuals: recompute=")
        << recompute << " is not built, expected none";
    return signalPassFailure();
  }
  ModuleOp module = getOperation();
  for (func::FuncOp function : module.getOps<func::FuncOp>())
    clearMarks(function);
  // What a layer's backward uses of its caller is known once the layer is differentiated, so a copy of the
  // module is.
  OwningOpRef<ModuleOp> scratch(cast<ModuleOp>(module->clone()));
  auto choose = [&](JointFunction &joint) {
    DenseSet<Value> saved = chooseMinimumCut(joint);
    mark(module.lookupSymbol<func::FuncOp>(joint.info.function.getName()), joint, saved);
    return saved;
  };
  if (failed(differentiateModule(*scratch, /*split=*/false, Float32Type::get(&getContext()), choose)))
    signalPassFailure();
}
