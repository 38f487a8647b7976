//===- OptimizeCollectives.cpp - fuses and shares collectives ------------------------------------------===//
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "par/Dialect/Par/IR/Buckets.h"
#include "par/Transforms/Partition/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_OPTIMIZECOLLECTIVES
#include "par/Transforms/Partition/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

/// The only producer of `value` if it is a one-tensor `Op` that nobody else uses.
template <typename Op>
static Op getSoleProducer(Value value) {
  auto op = value.getDefiningOp<Op>();
  return op && op->getNumResults() == 1 && value.hasOneUse() ? op : Op();
}

namespace {
/// all_slice(all_reduce sum x) → reduce_scatter x.
struct SliceOfAllReduce : OpRewritePattern<AllSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AllSliceOp slice, PatternRewriter &rewriter) const override {
    auto reduce = getSoleProducer<AllReduceOp>(slice.getInput());
    if (!reduce || reduce.getKind() != ReduceKind::Sum || reduce.getAxes() != slice.getAxes())
      return failure();
    auto scatter = rewriter.replaceOpWithNewOp<ReduceScatterOp>(
        slice, TypeRange{slice.getType()}, slice.getAxes(), slice.getDim(), reduce.getInputs());
    if (Attribute cause = reduce->getAttr(ParDialect::kCauseAttr))
      scatter->setAttr(ParDialect::kCauseAttr, cause);
    return success();
  }
};

/// all_gather(reduce_scatter x) → all_reduce x.
struct GatherOfReduceScatter : OpRewritePattern<AllGatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AllGatherOp gather, PatternRewriter &rewriter) const override {
    if (gather.getInputs().size() != 1)
      return failure();
    auto scatter = getSoleProducer<ReduceScatterOp>(gather.getInputs()[0]);
    if (!scatter || scatter.getAxes() != gather.getAxes() || scatter.getDim() != gather.getDim())
      return failure();
    auto reduce =
        rewriter.replaceOpWithNewOp<AllReduceOp>(gather, TypeRange{gather->getResult(0).getType()},
                                                 ReduceKind::Sum, gather.getAxes(), scatter.getInputs());
    if (Attribute cause = scatter->getAttr(ParDialect::kCauseAttr))
      reduce->setAttr(ParDialect::kCauseAttr, cause);
    return success();
  }
};

/// all_slice(all_gather x) over the same axes and dimension → x.
struct SliceOfGather : OpRewritePattern<AllSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AllSliceOp slice, PatternRewriter &rewriter) const override {
    auto gather = slice.getInput().getDefiningOp<AllGatherOp>();
    if (!gather || gather.getInputs().size() != 1 || gather.getAxes() != slice.getAxes() ||
        gather.getDim() != slice.getDim())
      return failure();
    rewriter.replaceOp(slice, gather.getInputs()[0]);
    return success();
  }
};

/// Equal collectives of one value are one ("shared gathers").
struct ShareCollective : OpInterfaceRewritePattern<CollectiveOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(CollectiveOpInterface op, PatternRewriter &rewriter) const override {
    for (Operation *user : op->getOperand(0).getUsers()) {
      if (user == op || user->getBlock() != op->getBlock() || !user->isBeforeInBlock(op) ||
          !areAlike(user, op) || user->getOperands() != op->getOperands() ||
          user->getResultTypes() != op->getResultTypes())
        continue;
      rewriter.replaceOp(op, user->getResults());
      return success();
    }
    return failure();
  }
};

struct OptimizeCollectives : par::impl::OptimizeCollectivesBase<OptimizeCollectives> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<SliceOfAllReduce, GatherOfReduceScatter, SliceOfGather, ShareCollective>(&getContext());
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
  }
};
} // namespace
