//===- JoinPads.cpp - sums of pads that tile a tensor are concatenations --------------------------------===//
#include "par/Dialect/Par/IR/Par.h"
#include "par/Transforms/Lower/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_JOINPADS
#include "par/Transforms/Lower/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {
/// The terms of a sum, through the additions that only it uses.
struct Sum {
  SmallVector<PadOp> pads;
  SmallVector<Value> others;

  explicit Sum(arith::AddFOp root) {
    // A stack of its own: a sum may be as long as the program.
    SmallVector<Value> work{root.getRhs(), root.getLhs()};
    while (!work.empty()) {
      Value value = work.pop_back_val();
      auto inner = value.getDefiningOp<arith::AddFOp>();
      if (inner && value.hasOneUse())
        work.append({inner.getRhs(), inner.getLhs()});
      else if (auto pad = value.getDefiningOp<PadOp>())
        pads.push_back(pad);
      else
        others.push_back(value);
    }
  }
};
} // namespace

/// The dimension along which the pads tile the result one after the other, all others being whole; sorts
/// them.
static std::optional<int64_t> findTiledDim(SmallVectorImpl<PadOp> &pads) {
  ArrayRef<int64_t> whole = pads.front().getType().getShape();
  std::optional<int64_t> tiled;
  for (PadOp pad : pads)
    for (auto [dim, size] : llvm::enumerate(pad.getInput().getType().getShape()))
      if (size != whole[dim]) {
        if (tiled.value_or(dim) != static_cast<int64_t>(dim))
          return std::nullopt;
        tiled = dim;
      }
  if (!tiled)
    return std::nullopt;
  llvm::sort(pads, [&](PadOp a, PadOp b) { return a.getOffsets()[*tiled] < b.getOffsets()[*tiled]; });
  int64_t end = 0;
  for (PadOp pad : pads) {
    if (pad.getOffsets()[*tiled] != end)
      return std::nullopt;
    end += pad.getInput().getType().getDimSize(*tiled);
  }
  return end == whole[*tiled] ? tiled : std::nullopt;
}

static void joinPads(arith::AddFOp root) {
  Sum sum(root);
  std::optional<int64_t> dim = sum.pads.size() > 1 ? findTiledDim(sum.pads) : std::nullopt;
  if (!dim)
    return;
  OpBuilder builder(root);
  SmallVector<Value> parts;
  for (PadOp pad : sum.pads)
    parts.push_back(pad.getInput());
  Value joined = builder.create<ConcatOp>(root.getLoc(), root.getType(), parts, *dim);
  for (Value other : sum.others)
    joined = builder.create<arith::AddFOp>(root.getLoc(), joined, other);
  root.replaceAllUsesWith(joined);
}

namespace {
struct JoinPads : par::impl::JoinPadsBase<JoinPads> {
  void runOnOperation() override {
    SmallVector<arith::AddFOp> roots;
    getOperation().walk([&](arith::AddFOp op) {
      bool isTerm = op->hasOneUse() && isa<arith::AddFOp>(*op->getUsers().begin());
      if (!isTerm && isa<RankedTensorType>(op.getType()))
        roots.push_back(op);
    });
    for (arith::AddFOp root : roots)
      joinPads(root);
    for (Block &block : getOperation().getBody())
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
        if (isa<arith::AddFOp, PadOp>(op) && op.use_empty())
          op.erase();
  }
};
} // namespace
