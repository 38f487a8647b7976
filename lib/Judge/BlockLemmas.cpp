//===- BlockLemmas.cpp - tensors of which a rank holds several blocks of a dimension -------------===//
#include "Layout.h"
#include "Lemma.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::par;

/// Moves digits of an operand's layout. What has the dimensions of a one-device value then is that value, its
/// dimensions in that order.
template <typename Move>
static FailureOr<Held> moveDigits(LemmaContext &context, unsigned operand, Move move) {
  const Held &input = context.operands[operand];
  Layout layout =
      input.layout
          ? *input.layout
          : Layout(input, cast<RankedTensorType>(context.op->getOperand(operand).getType()), context.mesh);
  Number base = input.layout ? input.whatOfLayout : input.what;
  if (!move(layout))
    return context.refuse("moves blocks that a rank does not hold so");
  Held result = input;
  result.dropFacts();
  std::optional<SmallVector<int64_t>> dims = layout.findDims();
  if (!dims) {
    result.layout = std::make_shared<const Layout>(layout);
    result.whatOfLayout = base, result.hasDims = false;
    return result;
  }
  result.layout.reset(), result.hasDims = true;
  result.dims.clear();
  for (int64_t dim : *dims)
    result.dims.push_back(layout.getDim(dim));
  SmallVector<int64_t> shape;
  for (int64_t dim = 0, rank = dims->size(); dim < rank; ++dim)
    shape.push_back(layout.getDim(dim).size);
  result.what = context.numbers.transpose(base, shape, *dims);
  return result;
}

/// `axes`: over which ranks exchange something.
template <typename Move>
static LemmaResult moveAllDigits(LemmaContext &context, ArrayRef<StringAttr> axes, Move move) {
  for (const Held &held : context.operands)
    for (const Axes *differing : {&held.pending, &held.logPending, &held.extreme, &held.coordinates})
      for (StringAttr axis : axes)
        if (llvm::is_contained(*differing, axis))
          return context.refuse("moves blocks over " + quote(axis) +
                                " of what is no value of one device there");
  SmallVector<Held, 0> results;
  for (unsigned operand = 0; operand < context.operands.size(); ++operand) {
    FailureOr<Held> moved = moveDigits(context, operand, move);
    if (failed(moved))
      return failure();
    results.push_back(*moved);
  }
  return results;
}

LemmaResult par::applyToBlocks(LemmaContext &context) {
  auto axesOf = [&](auto op) { return readAxes(op.getAxes(), context.mesh); };
  return llvm::TypeSwitch<Operation *, LemmaResult>(context.op)
      .Case([&](AllGatherOp op) {
        Axes axes = axesOf(op);
        return moveAllDigits(context, axes, [&](Layout &layout) { return layout.join(op.getDim(), axes); });
      })
      .Case([&](AllSliceOp op) {
        Axes axes = axesOf(op);
        return moveAllDigits(context, axes, [&](Layout &layout) { return layout.cut(op.getDim(), axes); });
      })
      .Case([&](AllToAllOp op) {
        Axes axes = axesOf(op);
        return moveAllDigits(context, axes, [&](Layout &layout) {
          return layout.exchange(op.getSplit(), op.getConcat(), axes);
        });
      })
      .Case([&](TransposeOp op) {
        return moveAllDigits(context, {}, [&](Layout &layout) {
          layout.transpose(op.getPermutation());
          return true;
        });
      })
      .Case([&](ReshapeOp op) {
        return moveAllDigits(context, {},
                             [&](Layout &layout) { return layout.reshape(op.getType().getShape()); });
      })
      .Default(
          [&](Operation *) { return context.refuse("reads a tensor of which a rank holds several blocks"); });
}

LemmaResult par::choose(LemmaContext &context, LemmaResult dims, LemmaResult blocks) {
  if (failed(dims) || failed(blocks))
    return failed(dims) ? blocks : dims;
  for (auto [held, other] : llvm::zip(*dims, *blocks)) {
    if (other.hasDims && !context.isKnown(held.what))
      held = other;
    else if (!other.hasDims)
      held.layout = other.layout, held.whatOfLayout = other.whatOfLayout;
  }
  return dims;
}
