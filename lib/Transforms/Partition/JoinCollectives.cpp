//===- JoinCollectives.cpp - collectives of one kind travel together ------------------------------------===//
#include "par/Dialect/Par/IR/Buckets.h"
#include "par/Dialect/Par/IR/Sizes.h"
#include "par/Transforms/Partition/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_JOINCOLLECTIVES
#include "par/Transforms/Partition/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

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

/// The first op of its block that needs a result of `op`, itself or within it.
static Operation *getFirstUse(Operation *op) {
  Operation *first = nullptr;
  for (Operation *user : op->getUsers()) {
    Operation *inBlock = op->getBlock()->findAncestorOpInBlock(*user);
    if (!first || inBlock->isBeforeInBlock(first))
      first = inBlock;
  }
  return first;
}

/// The first and the last cause, and how many lie between: a bucket may hold all gradients of a model.
static std::string joinCauses(ArrayRef<StringAttr> causes) {
  std::string text = causes.front().getValue().str();
  if (causes.size() > 2)
    text += "; " + std::to_string(causes.size() - 2) + " more";
  return causes.size() > 1 ? text + "; " + causes.back().getValue().str() : text;
}

namespace {
/// Collectives that become one, where the last of them stands.
class Bucket {
public:
  explicit Bucket(Operation *first) { add(first); }

  int64_t getBytes() const { return bytes; }

  bool fits(Operation *next, int64_t limit) const {
    return mayShareBucket(members.front(), next) && bytes + ::getBytes(next) <= limit &&
           (!firstUse || next->isBeforeInBlock(firstUse));
  }

  void add(Operation *member) {
    members.push_back(member);
    bytes += ::getBytes(member);
    Operation *use = ::getFirstUse(member);
    if (!firstUse || (use && use->isBeforeInBlock(firstUse)))
      firstUse = use;
  }

  void merge() {
    if (members.size() == 1)
      return;
    Operation *last = members.back();
    OperationState state(last->getLoc(), last->getName());
    state.addAttributes(last->getAttrs());
    llvm::SetVector<StringAttr> causes;
    for (Operation *member : members) {
      state.addOperands(member->getOperands());
      state.addTypes(member->getResultTypes());
      if (auto cause = member->getAttrOfType<StringAttr>(ParDialect::kCauseAttr))
        causes.insert(cause);
    }
    OpBuilder builder(last);
    Operation *merged = builder.create(state);
    if (!causes.empty())
      merged->setAttr(ParDialect::kCauseAttr, builder.getStringAttr(joinCauses(causes.getArrayRef())));
    unsigned next = 0;
    for (Operation *member : members) {
      for (Value result : member->getResults())
        result.replaceAllUsesWith(merged->getResult(next++));
      member->erase();
    }
  }

private:
  SmallVector<Operation *> members;
  int64_t bytes = 0;
  Operation *firstUse = nullptr; ///< of any member's result: none may join behind it
};

struct JoinCollectives : par::impl::JoinCollectivesBase<JoinCollectives> {
  using JoinCollectivesBase::JoinCollectivesBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (bucketBytes < 0) {
      function.emitError("par-join-collectives: bucket-bytes is ")
          << int64_t(bucketBytes) << ", expected at least 0";
      return signalPassFailure();
    }
    if (bucketBytes > 0 && !function.isExternal())
      join(function.front());
  }

  /// Each joins the first bucket that it fits in.
  void join(Block &block) {
    SmallVector<Bucket> open, full;
    for (Operation &op : block) {
      if (!isa<AllReduceOp>(op) && !isContiguous(&op))
        continue;
      Bucket *bucket = llvm::find_if(open, [&](const Bucket &each) { return each.fits(&op, bucketBytes); });
      if (bucket == open.end())
        bucket = &open.emplace_back(&op);
      else
        bucket->add(&op);
      if (bucket->getBytes() < bucketBytes)
        continue;
      full.push_back(std::move(*bucket));
      open.erase(bucket);
    }
    for (Bucket &bucket : llvm::concat<Bucket>(full, open))
      bucket.merge();
  }
};
} // namespace
