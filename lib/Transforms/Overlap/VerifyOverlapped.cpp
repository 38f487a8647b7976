//===- VerifyOverlapped.cpp - checks the form after the phase overlap -----------------------------------===//
#include "par/Dialect/Par/IR/Par.h"
#include "par/Transforms/Overlap/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_VERIFYOVERLAPPED
#include "par/Transforms/Overlap/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

/// Whether anything but communication stands between the start of a collective and its wait.
static bool isOverlapped(Operation *started, Operation *wait) {
  for (Operation *op = started->getNextNode(); op != wait; op = op->getNextNode())
    if (!isa<CollectiveOpInterface, WaitOp>(op))
      return true;
  return false;
}

namespace {
struct VerifyOverlapped : par::impl::VerifyOverlappedBase<VerifyOverlapped> {
  void runOnOperation() override {
    bool valid = true;
    getOperation().walk([&](WaitOp wait) {
      Operation *started = wait.getCollective();
      auto function = wait->getParentOfType<func::FuncOp>();
      if (!function || !function->hasAttr(ParDialect::kLocalAttr)) {
        started->emitOpError(
            "par-verify-overlapped: started in a function that is not partitioned; par-partition "
            "comes before par-overlap-collectives");
        valid = false;
      } else if (!isOverlapped(started, wait)) {
        InFlightDiagnostic error =
            started->emitOpError("par-verify-overlapped: started, but nothing is computed before its wait; "
                                 "par-overlap-collectives should have left it blocking");
        error.attachNote(wait.getLoc()) << "the wait";
        valid = false;
      }
    });
    if (!valid)
      signalPassFailure();
  }
};
} // namespace
