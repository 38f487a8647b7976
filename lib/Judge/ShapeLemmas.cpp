//===- ShapeLemmas.cpp - pads and slices, reshapes, lists of offsets -----------------------------===//
#include "Lemma.h"

using namespace mlir;
using namespace mlir::par;

/// Zeros behind a dimension are padding of a value that has no elements there; what is cut off behind its
/// size was none of it.
LemmaResult par::applyToResize(LemmaContext &context, ArrayRef<int64_t> offsets) {
  LemmaResult itself = applyRule(context);
  if (succeeded(itself) && context.isKnown(itself->front().what))
    return itself;
  Held result = context.operands[0];
  result.dropFacts();
  auto type = cast<RankedTensorType>(context.op->getResult(0).getType());
  for (int64_t dim = 0, rank = result.dims.size(); dim < rank; ++dim) {
    int64_t from = context.extent(0, dim), to = type.getDimSize(dim);
    HeldDim &held = result.dims[dim];
    if (from == to)
      continue;
    // Sums into rows have zeros in all rows that no id names.
    if (!held.isConstant && held.size == HeldDim::kUnbounded && held.padding == HeldDim::Padding::Zero &&
        !offsets[dim] && to > from)
      continue;
    bool isOpen = held.isConstant || (held.size == HeldDim::kUnbounded && held.axes.empty());
    if (isOpen && !offsets[dim]) {
      if (to > from) // it has as many elements as there were, and then zeros
        held = HeldDim(), held.size = from, held.padding = HeldDim::Padding::Zero;
      continue;
    }
    if (offsets[dim] || held.isConstant || held.size == HeldDim::kUnbounded || !held.axes.empty() ||
        to < held.size)
      return itself;
    bool isZero = from <= held.size || held.padding == HeldDim::Padding::Zero;
    held.padding = isZero || to == held.size ? HeldDim::Padding::Zero : HeldDim::Padding::Any;
  }
  return one(result);
}

namespace {
/// A reshape that is an op of the model. A dimension that is cut becomes the major part of one of the
/// result's before which there are as many elements, or is divided; among dimensions of one element the
/// reference's shape decides.
class ReshapeLemma {
public:
  explicit ReshapeLemma(LemmaContext &context)
      : context(context), input(context.operands[0]),
        shape(cast<RankedTensorType>(context.op->getResult(0).getType()).getShape()) {}

  LemmaResult run() {
    for (int64_t dim = 0, rank = input.dims.size(); dim < rank; ++dim) {
      const HeldDim &held = input.dims[dim];
      // A value that has every index, or the same elements everywhere, has as many as ranks hold.
      bool isOpen = held.isConstant || held.size == HeldDim::kUnbounded;
      from.push_back(isOpen ? context.extent(0, dim) * countShards(held, context.mesh) : held.size);
      if (context.isPadded(0, dim) || !held.axes.empty())
        moved.push_back(dim);
    }
    place(0, SmallVector<int64_t>(shape), {});
    if (!best)
      return context.refuse("joins or divides a dimension that is cut");
    return one(*best);
  }

private:
  static int64_t product(ArrayRef<int64_t> sizes) {
    int64_t result = 1;
    for (int64_t size : sizes)
      result *= size;
    return result;
  }

  /// Finds dimensions of the result for `moved` from number `next` on. `to`: the shape so far.
  void place(size_t next, SmallVector<int64_t> to, SmallVector<int64_t> targets) {
    if (next == moved.size())
      return finish(to, targets);
    int64_t dim = moved[next], extent = context.extent(0, dim);
    for (int64_t target = targets.empty() ? 0 : targets.back() + 1, rank = to.size(); target < rank;
         ++target) {
      SmallVector<int64_t> grown(to);
      if (shape[target] % extent == 0) // the major part of a joint dimension
        grown[target] = shape[target] / extent * from[dim];
      else if (extent % shape[target] == 0 && from[dim] % (extent / shape[target]) == 0) // divided
        grown[target] = from[dim] / (extent / shape[target]);
      else
        continue;
      targets.push_back(target);
      place(next + 1, grown, targets);
      targets.pop_back();
    }
  }

  void finish(ArrayRef<int64_t> to, ArrayRef<int64_t> targets) {
    if (product(from) != product(to))
      return;
    Held result = input;
    result.dropFacts();
    result.dims.clear();
    for (int64_t size : to) {
      HeldDim dim;
      dim.size = size, dim.padding = HeldDim::Padding::Zero;
      result.dims.push_back(dim);
    }
    for (auto [dim, target] : llvm::zip(moved, targets)) {
      if (product(ArrayRef<int64_t>(from).take_front(dim)) != product(to.take_front(target)))
        return;
      result.dims[target].axes = input.dims[dim].axes;
      result.dims[target].padding = input.dims[dim].padding;
      if (shape[target] < context.extent(0, dim) && context.isPadded(0, dim))
        return; // padding would be within a dimension
    }
    result.what = context.numbers.reshape(input.what, from, to);
    // A reshape that changes nothing is no op of the reference's.
    int rank = context.isKnown(result.what) ? (result.what != input.what ? 4 : 2) : 0;
    // What partition adds and takes away again are dimensions of one element, not parts of a dimension.
    auto keeps = [&](size_t number) { return to[targets[number]] == from[moved[number]]; };
    rank += llvm::all_of(llvm::seq<size_t>(0, moved.size()), keeps);
    if (rank > bestRank)
      best = result, bestRank = rank;
  }

  LemmaContext &context;
  const Held &input;
  ArrayRef<int64_t> shape;
  SmallVector<int64_t> from, moved; ///< sizes of the one-device value; dimensions that are cut or padded
  std::optional<Held> best;
  int bestRank = -1;
};
} // namespace

LemmaResult par::applyToReshape(LemmaContext &context) {
  const Held &input = context.operands[0];
  if (!input.dims.empty() || !input.affine) {
    LemmaResult itself = ReshapeLemma(context).run();
    return choose(context, itself, applyToBlocks(context));
  }
  // An integer becomes a list of one.
  Held list;
  list.what = Number();
  list.dims.resize(1);
  list.dims[0].size = 1, list.dims[0].padding = HeldDim::Padding::Zero;
  list.shifts.push_back(*input.affine);
  list.coordinates = input.coordinates;
  return one(list);
}

/// A list of the offsets of a shard, one per dimension, beside nothing.
LemmaResult par::applyToConcat(LemmaContext &context) {
  Held list;
  list.dims.resize(1);
  list.dims[0].size = context.operands.size(), list.dims[0].padding = HeldDim::Padding::Zero;
  bool hasShift = false;
  for (const Held &held : context.operands) {
    if (held.shifts.size() != 1 && !held.isZero())
      return applyRule(context);
    list.coordinates.append(held.coordinates.begin(), held.coordinates.end());
    hasShift |= !held.shifts.empty();
    list.shifts.push_back(held.shifts.empty() ? Affine() : held.shifts[0]);
  }
  return hasShift ? one(list) : applyRule(context);
}
