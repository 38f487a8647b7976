//===- WidenSums.cpp - sums that are added up in memory are added up in f32 -----------------------------===//
#include "par/Dialect/Par/IR/Par.h"
#include "par/Transforms/Lower/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_WIDENSUMS
#include "par/Transforms/Lower/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {
struct WidenSums : par::impl::WidenSumsBase<WidenSums> {
  void runOnOperation() override {
    getOperation().walk([](KernelOpInterface op) {
      if (!op.mayWidenResults())
        return;
      // What lies in registers until it is stored is rounded once as it is.
      for (OpResult result : op->getResults())
        if (auto element = dyn_cast<FloatType>(getElementTypeOrSelf(result.getType()));
            element && element.getWidth() < 32 && op.addsUpInMemory(result.getResultNumber()))
          widen(result, element);
    });
  }

  static void widen(OpResult result, FloatType element) {
    OpBuilder builder(result.getContext());
    builder.setInsertionPointAfterValue(result);
    result.setType(cast<RankedTensorType>(result.getType()).clone(builder.getF32Type()));
    Value rounded = convertFloat(builder, result.getLoc(), result, element);
    result.replaceAllUsesExcept(rounded, rounded.getDefiningOp());
  }
};
} // namespace
