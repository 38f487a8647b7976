//===- VerifyPartitioned.cpp - checks the form after the phase partition --------------------------------===//
#include "HandedOver.h"
#include "par/Transforms/Partition/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_VERIFYPARTITIONED
#include "par/Transforms/Partition/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {
struct VerifyPartitioned : par::impl::VerifyPartitionedBase<VerifyPartitioned> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](Operation *op) -> WalkResult {
      if (auto function = dyn_cast<func::FuncOp>(op); function && !function->hasAttr(ParDialect::kLocalAttr))
        return function.emitError(
            "par-verify-partitioned: the function is not local; par-partition should have rewritten it");
      if (isa<ConstrainOp>(op))
        return op->emitOpError(
            "par-verify-partitioned: left over; par-insert-reshards should have removed it");
      if (isa<ReshardOp>(op))
        return op->emitOpError(
            "par-verify-partitioned: left over; par-partition should have made collectives of it");
      return WalkResult::advance();
    });
    if (result.wasInterrupted() || failed(verifyHandedOver(getOperation())))
      signalPassFailure();
  }
};
} // namespace
