//===- OptimizeCollectives.cpp - fuses, shares and buckets collectives ----------------------------------===//
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "par/Dialect/Par/IR/Buckets.h"
#include "par/Dialect/Par/IR/Sizes.h"
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
  using OptimizeCollectivesBase::OptimizeCollectivesBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<SliceOfAllReduce, GatherOfReduceScatter, SliceOfGather, ShareCollective>(&getContext());
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    if (bucketBytes > 0 && !getOperation().isExternal())
      bucket(getOperation().front());
  }

  //===--------------------------------------------------------------------===//
  // Buckets
  //===--------------------------------------------------------------------===//

  struct Bucket {
    SmallVector<Operation *> members;
    int64_t bytes = 0;
  };

  /// Reductions and gathers of one kind, group and element type that need nothing from each other are joined
  /// at the last of them: in a block of gradients, or before the layer whose parameters are gathered.
  void bucket(Block &block) {
    SmallVector<Operation *> collectives;
    for (Operation &op : block)
      if (isa<AllReduceOp>(op) || isContiguous(&op))
        collectives.push_back(&op);
    SmallVector<Bucket> buckets;
    llvm::DenseSet<Operation *> taken;
    for (auto [position, first] : llvm::enumerate(collectives)) {
      if (taken.contains(first))
        continue;
      Bucket bucket;
      for (Operation *next : ArrayRef<Operation *>(collectives).drop_front(position))
        if (!taken.contains(next) && fits(bucket, next)) {
          bucket.members.push_back(next);
          bucket.bytes += getBytes(next);
          taken.insert(next);
        }
      if (bucket.members.size() > 1)
        buckets.push_back(bucket);
    }
    for (Bucket &bucket : buckets)
      merge(bucket);
  }

  /// Gathers and scatters whose blocks lie outermost; the others have copies before or behind them, of which
  /// one at a time is less memory.
  static bool isContiguous(Operation *op) {
    int64_t dim;
    if (auto gather = dyn_cast<AllGatherOp>(op))
      dim = gather.getDim();
    else if (auto scatter = dyn_cast<ReduceScatterOp>(op))
      dim = scatter.getDim();
    else
      return false;
    return llvm::all_of(op->getOperandTypes(), [&](Type type) { return isOutermost(type, dim); });
  }

  static int64_t getBytes(Operation *op) {
    return getTensorBytes(isa<AllGatherOp>(op) ? TypeRange(op->getResultTypes())
                                               : TypeRange(op->getOperandTypes()));
  }

  bool fits(const Bucket &bucket, Operation *next) const {
    if (bucket.members.empty())
      return true;
    Operation *first = bucket.members.front();
    if (!mayShareBucket(first, next) || bucket.bytes + getBytes(next) > bucketBytes)
      return false;
    // Joined where `next` stands: nobody may use an earlier member's result before that.
    return llvm::all_of(bucket.members, [&](Operation *member) {
      return llvm::all_of(member->getUsers(), [&](Operation *user) {
        Operation *inBlock = next->getBlock()->findAncestorOpInBlock(*user);
        return inBlock && next->isBeforeInBlock(inBlock);
      });
    });
  }

  /// The first and the last cause, and how many lie between: a bucket may hold all gradients of a model.
  static std::string join(ArrayRef<StringAttr> causes) {
    std::string text = causes.front().getValue().str();
    if (causes.size() > 2)
      text += "; " + std::to_string(causes.size() - 2) + " more";
    return causes.size() > 1 ? text + "; " + causes.back().getValue().str() : text;
  }

  static void merge(Bucket &bucket) {
    Operation *last = bucket.members.back();
    OperationState state(last->getLoc(), last->getName());
    state.addAttributes(last->getAttrs());
    llvm::SetVector<StringAttr> causes;
    for (Operation *member : bucket.members) {
      state.addOperands(member->getOperands());
      state.addTypes(member->getResultTypes());
      if (auto cause = member->getAttrOfType<StringAttr>(ParDialect::kCauseAttr))
        causes.insert(cause);
    }
    OpBuilder builder(last);
    Operation *merged = builder.create(state);
    if (!causes.empty())
      merged->setAttr(ParDialect::kCauseAttr, builder.getStringAttr(join(causes.getArrayRef())));
    unsigned next = 0;
    for (Operation *member : bucket.members) {
      for (Value result : member->getResults())
        result.replaceAllUsesWith(merged->getResult(next++));
      member->erase();
    }
  }
};
} // namespace
