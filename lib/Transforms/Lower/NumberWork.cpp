//===- NumberWork.cpp - numbers work and collectives as the manifest lists them -------------------------===//
#include "par/Dialect/Rank/IR/Rank.h"
#include "par/Transforms/Lower/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_NUMBERWORK
#include "par/Transforms/Lower/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {
struct NumberWork : par::impl::NumberWorkBase<NumberWork> {
  void runOnOperation() override {
    Builder builder(&getContext());
    int64_t work = 0, collectives = 0;
    getOperation().walk([&](Operation *op) {
      if (isa<rank::WorkOpInterface, rank::CopyOp>(op))
        op->setAttr("work", builder.getI64IntegerAttr(work++));
      if (rank::isCollective(op))
        op->setAttr("number", builder.getI64IntegerAttr(collectives++));
    });
  }
};
} // namespace
