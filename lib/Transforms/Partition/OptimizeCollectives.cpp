//===- OptimizeCollectives.cpp - fuses, shares and buckets collectives ----------------------------------===//
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Sharding/ReshardCost.h"
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
          user->getName() != op->getName() || user->getOperands() != op->getOperands() ||
          user->getPropertiesAsAttribute() != op->getPropertiesAsAttribute() ||
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
    SmallVector<AllReduceOp> members;
    double bytes = 0;
  };

  /// All-reduces of one kind, group and element type that need nothing from each other are joined at the
  /// first of them whose operands are all there: in a block of gradients, at the last.
  void bucket(Block &block) {
    SmallVector<AllReduceOp> reduces(block.getOps<AllReduceOp>());
    SmallVector<Bucket> buckets;
    llvm::DenseSet<Operation *> taken;
    for (auto [position, first] : llvm::enumerate(reduces)) {
      if (taken.contains(first))
        continue;
      Bucket bucket;
      for (AllReduceOp next : ArrayRef<AllReduceOp>(reduces).drop_front(position))
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

  static double getBytes(AllReduceOp op) {
    double bytes = 0;
    for (Value input : op.getInputs())
      bytes += getTensorBytes(cast<RankedTensorType>(input.getType()));
    return bytes;
  }

  bool fits(const Bucket &bucket, AllReduceOp next) const {
    if (bucket.members.empty())
      return true;
    AllReduceOp first = bucket.members.front();
    if (first.getKind() != next.getKind() || first.getAxes() != next.getAxes() ||
        bucket.bytes + getBytes(next) > static_cast<double>(bucketBytes) ||
        cast<RankedTensorType>(first.getInputs()[0].getType()).getElementType() !=
            cast<RankedTensorType>(next.getInputs()[0].getType()).getElementType())
      return false;
    // Joined where `next` stands: nobody may use an earlier member's result before that.
    return llvm::all_of(bucket.members, [&](AllReduceOp member) {
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
    SmallVector<Value> inputs;
    SmallVector<Type> types;
    llvm::SetVector<StringAttr> causes;
    for (AllReduceOp member : bucket.members) {
      llvm::append_range(inputs, member.getInputs());
      llvm::append_range(types, member->getResultTypes());
      if (auto cause = member->getAttrOfType<StringAttr>(ParDialect::kCauseAttr))
        causes.insert(cause);
    }
    AllReduceOp last = bucket.members.back();
    OpBuilder builder(last);
    auto merged = builder.create<AllReduceOp>(last.getLoc(), types, last.getKind(), last.getAxes(), inputs);
    if (!causes.empty())
      merged->setAttr(ParDialect::kCauseAttr, builder.getStringAttr(join(causes.getArrayRef())));
    unsigned next = 0;
    for (AllReduceOp member : bucket.members) {
      for (Value result : member->getResults())
        result.replaceAllUsesWith(merged->getResult(next++));
      member.erase();
    }
  }
};
} // namespace
