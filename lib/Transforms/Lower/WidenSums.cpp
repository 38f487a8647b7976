//===- WidenSums.cpp - sums that are added up in memory are added up in f32 -----------------------------===//
#include "par/Dialect/Par/IR/Par.h"
#include "par/Transforms/Lower/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_WIDENSUMS
#include "par/Transforms/Lower/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

/// Over rows in whose place others are added: results that lack leading dimensions. What ops give beside, in
/// the shape of their operands, and sums over last dimensions stay in registers until they are stored.
static bool isAddedUpInMemory(OpResult result) {
  Operation *op = result.getOwner();
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduce.isOverLeading();
  // A product is summed up by the runtime or in a register; the rest are vectors and tables.
  return !isa<EinsumOp>(op) && (isa<EmbeddingBackwardOp>(op) || result.getResultNumber() > 0);
}

namespace {
struct WidenSums : par::impl::WidenSumsBase<WidenSums> {
  void runOnOperation() override {
    getOperation().walk([](KernelOpInterface op) {
      if (!op.mayWidenResults())
        return;
      for (OpResult result : op->getResults())
        if (auto element = dyn_cast<FloatType>(getElementTypeOrSelf(result.getType()));
            element && element.getWidth() < 32 && isAddedUpInMemory(result))
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
