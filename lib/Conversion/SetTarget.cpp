//===- SetTarget.cpp - gives the module's plan its target -----------------------------------------------===//
#include "par/Conversion/Passes.h"
#include "par/Dialect/Par/IR/ParPlan.h"
#include "par/Target/Target.h"

namespace mlir::par {
#define GEN_PASS_DEF_SETTARGET
#include "par/Conversion/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {
struct SetTarget : par::impl::SetTargetBase<SetTarget> {
  using SetTargetBase::SetTargetBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    PlanAttr before = getPlan(module);
    Plan plan = before ? before.getPlan() : Plan();
    std::optional<TargetKind> kind = findByName<TargetKind>(target);
    const Target *found = kind ? findTarget(*kind) : nullptr;
    if (!found)
      return refuse("target = " + target, getNames(TargetKind()));
    SmallVector<StringRef> chips;
    for (ChipKind each : found->getChips())
      chips.push_back(mlir::par::getName(each));
    if (chip.empty())
      chip = chips.front().str();
    if (!llvm::is_contained(chips, StringRef(chip)))
      return refuse("chip = " + chip, chips);
    plan.target = *kind;
    plan.chip = *findByName<ChipKind>(chip);
    setPlan(module, plan, before ? before.getAfter() : CompilePhase::Import);
  }

  template <typename Names>
  void refuse(const Twine &what, const Names &names) {
    getOperation().emitError("par-set-target: ") << what << ", expected one of " << llvm::join(names, ", ");
    signalPassFailure();
  }
};
} // namespace
