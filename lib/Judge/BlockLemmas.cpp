//===- BlockLemmas.cpp - tensors of which a rank holds several blocks of a dimension -------------===//
#include "Layout.h"
#include "Lemma.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::par;

/// The tensor by dimensions of the value whose digits it has; none, if some is not one of these.
static std::optional<Held> readDims(LemmaContext &context, const Blocks &blocks, const Held &input) {
  std::optional<SmallVector<int64_t>> dims = blocks.layout.findDims();
  if (!dims)
    return std::nullopt;
  Held result = input;
  result.blocks.clear(), result.hasDims = true;
  result.dims.clear();
  SmallVector<int64_t> shape;
  for (int64_t dim = 0, rank = dims->size(); dim < rank; ++dim)
    shape.push_back(blocks.layout.getDim(dim).size);
  for (int64_t dim : *dims)
    result.dims.push_back(blocks.layout.getDim(dim));
  result.what = context.numbers.transpose(blocks.of, shape, *dims);
  return result;
}

/// Moves digits of an operand. Where they are dimensions of a value it is that, one of the reference's if
/// there are several. A value of dimensions may begin anew here, beside what it was before.
template <typename Move>
static FailureOr<Held> moveDigits(LemmaContext &context, unsigned operand, Move move) {
  constexpr size_t most = 4; // what is older is hardly a value again
  Held input = context.operands[operand];
  auto type = cast<RankedTensorType>(context.op->getOperand(operand).getType());
  if (input.hasDims)
    input.blocks.push_back(
        std::make_shared<const Blocks>(Blocks{Layout(input, type, context.mesh), input.what}));
  input.dropFacts();
  std::optional<Held> best;
  SmallVector<std::shared_ptr<const Blocks>, 1> left;
  for (const std::shared_ptr<const Blocks> &before : input.blocks) {
    Blocks moved = *before;
    if (!move(moved.layout))
      continue;
    std::optional<Held> held = readDims(context, moved, input);
    if (held && (!best || (!context.isKnown(best->what) && context.isKnown(held->what))))
      best = held;
    else if (!held && left.size() < most)
      left.push_back(std::make_shared<const Blocks>(moved));
  }
  if (!best && left.empty())
    return context.refuse("moves blocks that a rank does not hold so");
  if (!best)
    best = input, best->hasDims = false;
  best->blocks = left;
  return *best;
}

/// `axes`: over which ranks exchange something.
template <typename Move>
static LemmaResult moveAllDigits(LemmaContext &context, ArrayRef<StringAttr> axes, Move move) {
  for (const Held &held : context.operands)
    for (const Axes *differing :
         {&held.pending, &held.logPending, &held.extreme, &held.coordinates, &held.first})
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
    else
      held.blocks = other.blocks;
  }
  return dims;
}
