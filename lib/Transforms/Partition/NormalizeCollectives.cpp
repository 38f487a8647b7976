//===- NormalizeCollectives.cpp - collectives along dimension 0 only ------------------------------------===//
#include "par/Dialect/Par/IR/Sizes.h"
#include "par/Transforms/Partition/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_NORMALIZECOLLECTIVES
#include "par/Transforms/Partition/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

/// [dim, everything else in order].
static SmallVector<int64_t> toFront(int64_t rank, int64_t dim) {
  SmallVector<int64_t> permutation = {dim};
  for (int64_t each = 0; each < rank; ++each)
    if (each != dim)
      permutation.push_back(each);
  return permutation;
}

static SmallVector<int64_t> invert(ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> inverse(permutation.size());
  for (auto [position, dim] : llvm::enumerate(permutation))
    inverse[dim] = position;
  return inverse;
}

static RankedTensorType permute(RankedTensorType type, ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> shape;
  for (int64_t dim : permutation)
    shape.push_back(type.getDimSize(dim));
  return type.clone(shape);
}

static Value transpose(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> permutation) {
  return builder.create<TransposeOp>(loc, permute(cast<RankedTensorType>(value.getType()), permutation),
                                     value, permutation);
}

namespace {
struct NormalizeCollectives : par::impl::NormalizeCollectivesBase<NormalizeCollectives> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops) {
      if (auto gather = dyn_cast<AllGatherOp>(op))
        moveDim(gather);
      else if (auto scatter = dyn_cast<ReduceScatterOp>(op))
        moveDim(scatter);
      else if (auto gather = dyn_cast<GatherOp>(op))
        moveDim(gather);
      else if (auto scatter = dyn_cast<ScatterOp>(op))
        moveDim(scatter);
      else if (auto exchange = dyn_cast<AllToAllOp>(op))
        normalize(exchange);
    }
  }

  /// Transposes `dim` to the front before, and back after.
  template <typename Op>
  void moveDim(Op op) {
    int64_t dim = op.getDim();
    auto needsMove = [&](Value value) { return !isOutermost(value.getType(), dim); };
    if (llvm::none_of(op.getInputs(), needsMove))
      return;
    OpBuilder builder(op);
    Operation *moved = builder.clone(*op);
    moved->setAttr("dim", builder.getI64IntegerAttr(0));
    builder.setInsertionPoint(moved);
    for (unsigned number = 0; number < op.getInputs().size(); ++number) {
      Value input = op.getInputs()[number];
      int64_t rank = cast<RankedTensorType>(input.getType()).getRank();
      SmallVector<int64_t> front = toFront(rank, dim);
      moved->setOperand(number, transpose(builder, op.getLoc(), input, front));
      moved->getResult(number).setType(
          permute(cast<RankedTensorType>(op->getResult(number).getType()), front));
    }
    builder.setInsertionPointAfter(moved);
    for (unsigned number = 0; number < op.getInputs().size(); ++number) {
      int64_t rank = cast<RankedTensorType>(op.getInputs()[number].getType()).getRank();
      op->getResult(number).replaceAllUsesWith(
          transpose(builder, op.getLoc(), moved->getResult(number), invert(toFront(rank, dim))));
    }
    op.erase();
  }

  /// [.., n·s (split), .., c (concat), ..] → the n blocks to the front → exchange → [n, .., s, .., c, ..] → n
  /// before c.
  void normalize(AllToAllOp op) {
    int64_t split = op.getSplit(), concat = op.getConcat();
    if (op.getInputs().size() != 1 || (split == 0 && concat == 0))
      return;
    OpBuilder builder(op);
    Location loc = op.getLoc();
    Value value = op.getInputs()[0];
    auto type = cast<RankedTensorType>(value.getType()),
         result = cast<RankedTensorType>(op->getResult(0).getType());
    int64_t block =
        split == concat ? type.getDimSize(split) / countMembers(op, getMesh(op)) : result.getDimSize(split);
    int64_t count = type.getDimSize(split) / block;
    SmallVector<int64_t> blocks(type.getShape());
    blocks[split] = block;
    blocks.insert(blocks.begin() + split, count);
    value = builder.create<ReshapeOp>(loc, type.clone(blocks), value);
    value = transpose(builder, loc, value, toFront(blocks.size(), split));
    auto exchange =
        builder.create<AllToAllOp>(loc, TypeRange{value.getType()}, op.getAxes(), 0, 0, ValueRange{value});
    if (Attribute cause = op->getAttr(ParDialect::kCauseAttr))
      exchange->setAttr(ParDialect::kCauseAttr, cause);
    SmallVector<int64_t> back = invert(toFront(blocks.size(), concat));
    value = transpose(builder, loc, exchange->getResult(0), back);
    value = builder.create<ReshapeOp>(loc, result, value);
    op->getResult(0).replaceAllUsesWith(value);
    op.erase();
  }
};
} // namespace
