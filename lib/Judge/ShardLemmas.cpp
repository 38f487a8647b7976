//===- ShardLemmas.cpp - ops that know where their shard lies ------------------------------------===//
#include "Lemma.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::par;

/// An op whose last operand is where the shard begins that `operand` has along `dim`.
static LemmaResult withOffset(LemmaContext &context, unsigned operand, int64_t dim) {
  const std::optional<Affine> &offset = context.operands.back().affine;
  if (!offset || !isOffset(*offset, context.operands[operand].dims[dim].axes, context.extent(operand, dim),
                           context.mesh))
    return context.refuse("has an offset that is not that of its shard of operand " + Twine(operand));
  context.hasOffset = true;
  return applyRule(context);
}

/// Rows of a table; one that is cut by rows has an offset, or its rows are taken for others.
LemmaResult par::applyToTakeRows(LemmaContext &context) {
  if (context.operands.size() == 3)
    return withOffset(context, /*operand=*/1, /*dim=*/0);
  if (!context.operands[1].dims[0].axes.empty())
    return context.refuse("looks up rows in a shard of a table as if it were the whole");
  return applyRule(context);
}

/// Sums into rows of a table: those of a shard begin at the offset. There is one for every number of a row.
LemmaResult par::applyToAddRows(LemmaContext &context, bool idsAreChecked) {
  bool hasOffset = context.operands.size() == 3;
  Axes axes;
  if (hasOffset) {
    const std::optional<Affine> &offset = context.operands[2].affine;
    auto type = cast<RankedTensorType>(context.op->getResult(0).getType());
    std::optional<Axes> cut = offset && offset->ofDims.empty() && !offset->constant
                                  ? findCut(*offset, type.getDimSize(0), context.mesh)
                                  : std::nullopt;
    if (!cut)
      return context.refuse("has an offset that is not that of a shard of its result");
    axes = *cut;
  }
  context.hasOffset = hasOffset;
  LemmaResult results = applyRule(context);
  if (failed(results))
    return results;
  HeldDim &rows = results->front().dims[0];
  rows.axes = axes, rows.size = HeldDim::kUnbounded, rows.isConstant = false;
  rows.padding = idsAreChecked ? HeldDim::Padding::Zero : HeldDim::Padding::Any;
  return results;
}

LemmaResult par::applyToCrossEntropyBackward(LemmaContext &context, CrossEntropyBackwardOp op) {
  const Held &logits = context.operands[1];
  if (logits.dims.back().size != static_cast<int64_t>(op.getClasses()))
    return context.refuse("counts " + Twine(op.getClasses()) + " classes, of which one device has " +
                          Twine(logits.dims.back().size));
  if (context.operands.size() == 5)
    return withOffset(context, /*operand=*/1, logits.dims.size() - 1);
  if (!logits.dims.back().axes.empty())
    return context.refuse("takes a shard of the logits for all of them");
  return applyRule(context);
}

/// Whether the last of the operands, a list of offsets, has those of the first `count` dimensions of an
/// operand's shard, and no others. Then it is the list of one device, and says which shard a constant is.
static LogicalResult readOffsets(LemmaContext &context, unsigned operand, int64_t count,
                                 SmallVectorImpl<Held> &operands) {
  Held &input = operands[operand], &offsets = operands.back();
  if (!input.hasDims)
    return context.refuse("reads operand " + Twine(operand) + ", of which a rank holds several blocks");
  int64_t rank = std::max<int64_t>(count, offsets.shifts.size());
  for (int64_t dim = 0; dim < rank; ++dim) {
    Affine shift = offsets.shifts.empty() ? Affine() : offsets.shifts[dim];
    int64_t extent = dim < count ? context.extent(operand, dim) : 1;
    HeldDim where = dim < count ? input.dims[dim] : HeldDim();
    if (where.isConstant)
      if (std::optional<Axes> axes = findCut(shift, extent, context.mesh)) {
        where = HeldDim(), where.axes = *axes;
        input.dims[dim] = where;
      }
    if (where.isConstant || !isOffset(shift, where.axes, extent, context.mesh))
      return context.refuse("has offsets that are not those of its shard along dimension " + Twine(dim));
  }
  if (!offsets.shifts.empty())
    offsets.coordinates.clear();
  return success();
}

/// The rule's results for operands of which more is known than the context's.
static LemmaResult applyRuleTo(LemmaContext &context, ArrayRef<Held> operands) {
  LemmaContext known(context.op, operands, context.mesh, context.numbers, context.isKnown);
  LemmaResult results = applyRule(known);
  context.reason = known.reason;
  return results;
}

/// Elements are kept or dropped by their place in the one-device value, which offsets say.
LemmaResult par::applyToDropout(LemmaContext &context) {
  SmallVector<Held, 0> operands(context.operands);
  if (failed(readOffsets(context, 0, operands[0].dims.size(), operands)))
    return failure();
  return applyRuleTo(context, operands);
}

/// Positions say which rows see each other; only the counters of dropout depend on where a shard lies. `q`:
/// the number of the operand, behind which keys follow.
template <typename Op>
static LemmaResult attend(LemmaContext &context, Op op, unsigned q) {
  SmallVector<Held, 0> operands(context.operands);
  auto hasAllRows = [&](unsigned operand) {
    return operands[operand].hasDims && operands[operand].dims[1].axes.empty();
  };
  if (op.getDiagonal() && (!hasAllRows(q) || !hasAllRows(q + 1)))
    return context.refuse("takes rows of a shard for the diagonal of all");
  if (!op.getKey())
    return applyRule(context);
  if (!hasAllRows(q + 1))
    return context.refuse("drops scores of a shard's keys as if they were the first");
  if (failed(readOffsets(context, q, operands[q].dims.size() - 1, operands)))
    return failure();
  return applyRuleTo(context, operands);
}

LemmaResult par::applyToAttention(LemmaContext &context, AttentionOp op) { return attend(context, op, 0); }
LemmaResult par::applyToAttention(LemmaContext &context, AttentionBackwardOp op) {
  return attend(context, op, 1);
}

/// Squares of a whole row are added up, though the rule lets columns be cut: `localize` writes an exchange
/// then, and no op. `inputs`: the operands that have the columns behind `leading` dimensions.
static LemmaResult normalise(LemmaContext &context, ArrayRef<unsigned> inputs, int64_t leading,
                             bool hasCount) {
  for (unsigned input : inputs) {
    const Held &held = context.operands[input];
    for (int64_t dim = leading, rank = held.dims.size(); held.hasDims && dim < rank; ++dim) {
      const HeldDim &columns = held.dims[dim];
      if (!columns.isConstant && !columns.axes.empty())
        return context.refuse("adds up the squares of a row of which a rank has columns over " +
                              quote(columns.axes));
      if (context.isPadded(input, dim) && (!hasCount || columns.padding != HeldDim::Padding::Zero))
        return context.refuse("adds up padding of operand " + Twine(input) + " along dimension " +
                              Twine(dim));
    }
  }
  return applyRule(context);
}

static int64_t countLeading(Value input, Value weight) {
  return cast<RankedTensorType>(input.getType()).getRank() -
         cast<RankedTensorType>(weight.getType()).getRank();
}

LemmaResult par::applyToNorm(LemmaContext &context, RmsNormOp op) {
  return normalise(context, {0}, countLeading(op.getInput(), op.getWeight()), op->hasAttr("count"));
}

LemmaResult par::applyToNorm(LemmaContext &context, RmsNormBackwardOp op) {
  return normalise(context, {0, 1}, countLeading(op.getInput(), op.getWeight()), op->hasAttr("count"));
}

/// The logarithm of the denominator of a rank's logits, and the target's logit where the rank has it.
LemmaResult par::applyToCrossEntropyShard(LemmaContext &context, CrossEntropyShardOp op) {
  const Held &logits = context.operands[0], &targets = context.operands[1], &offset = context.operands[2];
  const HeldDim &classes = logits.dims.back();
  if (!offset.affine ||
      !isOffset(*offset.affine, classes.axes, context.extent(0, logits.dims.size() - 1), context.mesh))
    return context.refuse("has an offset that is not that of its shard of the logits");
  if (classes.size != static_cast<int64_t>(op.getClasses()))
    return context.refuse("counts " + Twine(op.getClasses()) + " classes, of which one device has " +
                          Twine(classes.size));
  for (const Held *operand : {&logits, &targets})
    if (!operand->hasDims || !operand->pending.empty() || !operand->logPending.empty() ||
        !operand->extreme.empty())
      return context.refuse("reads blocks, or a sum or an extremum that is pending");
  Held lse, picked;
  lse.dims.assign(logits.dims.begin(), logits.dims.end() - 1);
  for (auto [dim, target] : llvm::zip(lse.dims, targets.dims)) {
    if (dim.axes != target.axes || dim.size != target.size)
      return context.refuse("has targets that are cut in another way than logits");
    dim.padding = HeldDim::Padding::Any;
  }
  picked.dims = lse.dims;
  lse.what = OpNumbers::getLse(logits.what, op.getClasses());
  picked.what = OpNumbers::getPicked(logits.what, targets.what, op.getClasses());
  for (const Held *operand : {&logits, &targets})
    lse.coordinates.append(operand->coordinates.begin(), operand->coordinates.end());
  picked.coordinates = lse.coordinates;
  lse.logPending = picked.pending = classes.axes;
  return SmallVector<Held, 0>{lse, picked};
}

/// A logarithm of a sum over ranks may be measured from a number that they share.
LemmaResult par::applyToLogarithm(LemmaContext &context) {
  Held result = context.operands[0];
  if (!result.hasDims || !result.pending.empty())
    return context.refuse("reads a pending logarithm of blocks, or of a term");
  if (isa<math::ExpOp>(context.op)) {
    result.what = context.numbers.exp(result.what);
    std::swap(result.logPending, result.pending);
    return one(result);
  }
  const Held &shift = context.operands[1];
  if (!shift.hasDims || !shift.logPending.empty() || !shift.pending.empty() || !shift.extreme.empty())
    return context.refuse("shifts a pending logarithm by another pending value");
  for (StringAttr axis : result.logPending)
    if (shift.dependsOn(axis))
      return context.refuse("shifts a pending logarithm by what differs over " + quote(axis));
  for (auto [dim, other] : llvm::zip(result.dims, shift.dims))
    if (!other.isConstant && (dim.axes != other.axes || dim.size != other.size))
      return context.refuse("shifts a pending logarithm by what is cut in another way");
  result.coordinates.append(shift.coordinates.begin(), shift.coordinates.end());
  result.what = isa<arith::SubFOp>(context.op) ? result.what - shift.what : result.what + shift.what;
  return one(result);
}
