//===- Lemmas.cpp - where results of single ops are -----------------------------------------------------===//
#include "Layout.h"
#include "Lemma.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::par;

using Result = FailureOr<SmallVector<Held, 0>>;

static std::string quote(ArrayRef<StringAttr> axes) {
  std::string text;
  for (StringAttr axis : axes)
    text += (text.empty() ? "\"" : ", \"") + axis.str() + "\"";
  return text;
}

static SmallVector<Held, 0> one(Held held) { return {std::move(held)}; }

static Result applyRuleOf(LemmaContext &context) {
  auto op = dyn_cast<ShardingRuleOpInterface>(context.op);
  if (!op)
    return context.refuse("is an op of which no lemma is known");
  return applyRule(context, op.getShardingRule());
}

/// Whether ranks that differ over `axis` hold different shards or terms.
static bool dependsOn(const Held &held, StringAttr axis) {
  return llvm::is_contained(held.pending, axis) || llvm::is_contained(held.extreme, axis) ||
         llvm::is_contained(held.logPending, axis) ||
         llvm::any_of(held.dims, [&](const HeldDim &dim) { return llvm::is_contained(dim.axes, axis); });
}

//===----------------------------------------------------------------------===//
// Integers: indices and coordinates
//===----------------------------------------------------------------------===//

/// Coordinates over `axes`, times `extent`: the index of a shard's first element.
static bool isOffset(const Affine &affine, ArrayRef<StringAttr> axes, int64_t extent, MeshAttr mesh) {
  if (!affine.ofDims.empty() || affine.constant != 0)
    return false;
  int64_t stride = extent;
  size_t found = 0;
  for (StringAttr axis : llvm::reverse(axes)) {
    if (mesh.getSize(axis.getValue()) > 1) {
      auto at = affine.ofAxes.find(axis);
      if (at == affine.ofAxes.end() || at->second != stride)
        return false;
      ++found;
    }
    stride *= mesh.getSize(axis.getValue());
  }
  return found == affine.ofAxes.size();
}

static void addScaled(Affine &sum, const Affine &term, int64_t scale) {
  sum.constant += scale * term.constant;
  for (auto [dim, coefficient] : term.ofDims)
    if ((sum.ofDims[dim] += scale * coefficient) == 0)
      sum.ofDims.erase(dim);
  for (auto [axis, coefficient] : term.ofAxes)
    if ((sum.ofAxes[axis] += scale * coefficient) == 0)
      sum.ofAxes.erase(axis);
}

static std::optional<Affine> combine(Operation *op, ArrayRef<Held> x) {
  if (x.size() != 2 || !x[0].affine || !x[1].affine)
    return std::nullopt;
  Affine result = *x[0].affine;
  if (isa<arith::MulIOp>(op)) {
    bool isRight = x[1].affine->isConstant();
    if (!isRight && !x[0].affine->isConstant())
      return std::nullopt;
    Affine product;
    addScaled(product, *x[!isRight].affine, x[isRight].affine->constant);
    return product;
  }
  addScaled(result, *x[1].affine, isa<arith::SubIOp>(op) ? -1 : 1);
  return result;
}

/// The axes over which an index plus these coordinates is an index of the one-device value, major first.
static std::optional<Axes> findCut(const Affine &affine, int64_t extent, MeshAttr mesh) {
  Axes axes;
  for (auto [axis, coefficient] : affine.ofAxes)
    axes.push_back(axis);
  llvm::sort(axes,
             [&](StringAttr a, StringAttr b) { return affine.ofAxes.lookup(a) > affine.ofAxes.lookup(b); });
  Affine offset;
  offset.ofAxes = affine.ofAxes;
  return isOffset(offset, axes, extent, mesh) ? std::optional(axes) : std::nullopt;
}

/// A list of offsets moved by those of a shard.
static std::optional<Held> shift(LemmaContext &context) {
  ArrayRef<Held> x = context.operands;
  if (!isa<arith::AddIOp>(context.op) || x[0].shifts.empty() == x[1].shifts.empty())
    return std::nullopt;
  Held result = x[x[0].shifts.empty() ? 0 : 1];
  result.shifts = x[x[0].shifts.empty() ? 1 : 0].shifts;
  result.affine.reset();
  return result;
}

/// Sums and products of integers. An index along a dimension, plus the shard's offset, is cut along it.
static Result integers(LemmaContext &context) {
  if (std::optional<Held> moved = shift(context))
    return one(*moved);
  Result results = applyRuleOf(context);
  if (failed(results))
    return results;
  Held &result = results->front();
  result.affine = combine(context.op, context.operands);
  if (!isa<arith::AddIOp>(context.op) || !result.affine || result.affine->ofDims.size() != 1)
    return results;
  for (const auto &[index, offset] : {std::pair(0, 1), std::pair(1, 0)}) {
    const Affine &term = *context.operands[offset].affine;
    if (term.ofAxes.empty() || !term.ofDims.empty() || term.constant)
      continue;
    auto [dim, coefficient] = *result.affine->ofDims.begin();
    std::optional<Axes> axes = findCut(term, context.extent(index, dim), context.mesh);
    if (coefficient != 1 || !axes)
      return context.refuse("adds coordinates to an index, which are the offset of no shard");
    result.what = context.operands[index].what;
    result.dims[dim].axes = *axes;
    result.dims[dim].isConstant = false;
    result.dims[dim].size = HeldDim::kUnbounded;
  }
  return results;
}

static Result compareIndex(LemmaContext &context) {
  Result results = applyRuleOf(context);
  auto compare = cast<arith::CmpIOp>(context.op);
  const std::optional<Affine> &left = context.operands[0].affine, &right = context.operands[1].affine;
  if (failed(results) || !left || !right || !right->isConstant() || left->constant != 0)
    return results;
  bool isIndex = left->ofDims.size() == 1 && left->ofDims.begin()->second == 1;
  if (compare.getPredicate() == arith::CmpIPredicate::slt && isIndex)
    results->front().below = IndexBelow{left->ofDims.begin()->first, right->constant};
  bool isPositive = llvm::all_of(left->ofAxes, [](auto &axis) { return axis.second > 0; });
  if (compare.getPredicate() == arith::CmpIPredicate::eq && left->ofDims.empty() && right->constant == 0 &&
      isPositive)
    for (auto &[axis, coefficient] : left->ofAxes)
      results->front().first.push_back(axis);
  return results;
}

static Result expandInteger(LemmaContext &context, ExpandOp expand) {
  Result results = applyRuleOf(context);
  if (failed(results))
    return results;
  auto kept = [&](int64_t dim) {
    for (int64_t added : expand.getDims())
      dim += added <= dim;
    return dim;
  };
  const Held &input = context.operands[0];
  if (input.affine) {
    Affine affine = *input.affine;
    affine.ofDims.clear();
    for (auto [dim, coefficient] : input.affine->ofDims)
      affine.ofDims[kept(dim)] = coefficient;
    results->front().affine = affine;
  }
  results->front().first = input.first;
  if (input.below)
    results->front().below = IndexBelow{kept(input.below->dim), input.below->bound};
  return results;
}

/// One rank of those that have the same keeps it, the others have zeros: a sum over them.
static Result keepOnFirst(LemmaContext &context) {
  Held result = context.operands[1];
  for (StringAttr axis : context.operands[0].first) {
    if (dependsOn(result, axis))
      return context.refuse("keeps on the first rank over " + quote(axis) + " what is not the same on all");
    result.pending.push_back(axis);
  }
  return one(result);
}

/// Only elements below the size of a dimension keep their value: the padding holds the other.
static Result select(LemmaContext &context) {
  const Held &condition = context.operands[0], &value = context.operands[1], &other = context.operands[2];
  bool isZero = other.what == Number(), isLeast = other.what == Number::ofFloat(-HUGE_VAL);
  if (!condition.first.empty() && isZero)
    return keepOnFirst(context);
  if (!condition.below || !value.logPending.empty() || (!isZero && !value.pending.empty()))
    return applyRuleOf(context);
  Held result = value;
  HeldDim &dim = result.dims[condition.below->dim];
  if (dim.isConstant || condition.dims[condition.below->dim].axes != dim.axes)
    return applyRuleOf(context);
  if (dim.size == HeldDim::kUnbounded) // a value of every index ends there
    dim.size = condition.below->bound, result.affine.reset();
  if (condition.below->bound < dim.size)
    return applyRuleOf(context);
  if (condition.below->bound > dim.size)
    return one(result);
  dim.padding = isZero    ? HeldDim::Padding::Zero
                : isLeast ? HeldDim::Padding::NegativeInfinity
                          : HeldDim::Padding::Any;
  return one(result);
}

//===----------------------------------------------------------------------===//
// Exchange between ranks
//===----------------------------------------------------------------------===//

static Axes readAxes(ArrayAttr axes, MeshAttr mesh) {
  Axes result;
  for (StringAttr axis : axes.getAsRange<StringAttr>())
    if (mesh.getSize(axis.getValue()) > 1)
      result.push_back(axis);
  return result;
}

static LogicalResult addUp(LemmaContext &context, Held &held, ArrayRef<StringAttr> axes) {
  for (StringAttr axis : axes) {
    if (!llvm::is_contained(held.pending, axis))
      return context.refuse("adds up over " + quote(axis) + " what is no sum pending over it");
    llvm::erase(held.pending, axis);
  }
  return success();
}

/// Every rank keeps its block along a dimension.
static LogicalResult cut(LemmaContext &context, Held &held, int64_t dim, ArrayRef<StringAttr> axes) {
  for (StringAttr axis : axes)
    if (dependsOn(held, axis))
      return context.refuse("cuts over " + quote(axis) + " what is not the same on its ranks");
  if (!held.dims[dim].isConstant)
    held.dims[dim].axes.append(axes.begin(), axes.end());
  return success();
}

/// Blocks of a dimension come together, and follow each other only if these axes are its minor ones.
static LogicalResult join(LemmaContext &context, Held &held, int64_t dim, ArrayRef<StringAttr> axes) {
  Axes &has = held.dims[dim].axes;
  if (held.dims[dim].isConstant)
    return success();
  if (has.size() < axes.size() || ArrayRef<StringAttr>(has).take_back(axes.size()) != axes)
    return context.refuse("joins blocks of dimension " + Twine(dim) + " over " + quote(axes) +
                          ", which is cut over " + (has.empty() ? "no axis" : quote(has)));
  has.truncate(has.size() - axes.size());
  return success();
}

static Result reduceAll(LemmaContext &context, AllReduceOp op) {
  Axes axes = readAxes(op.getAxes(), context.mesh);
  SmallVector<Held, 0> results, operands(context.operands);
  for (Held &held : operands) {
    if (op.getKind() == ReduceKind::Sum) {
      if (failed(addUp(context, held, axes)))
        return failure();
    } else if (!held.extreme.empty()) {
      auto reduce = context.op->getOperand(&held - &operands.front()).getDefiningOp<ReduceOp>();
      if (!reduce || reduce.getKind() != op.getKind())
        return context.refuse("takes another extremum than its shards are");
      for (StringAttr axis : axes)
        if (!llvm::is_contained(held.extreme, axis))
          return context.refuse("takes the extremum over " + quote(axis) + " of what is whole");
        else
          llvm::erase(held.extreme, axis);
    } else if (op.getKind() == ReduceKind::Max && !held.logPending.empty()) {
      // Some number that all ranks share, from which logarithms may be measured.
      held.what = RandomFunction("maximum").add(held.what).get();
      for (StringAttr axis : axes)
        llvm::erase(held.logPending, axis);
      if (!held.logPending.empty())
        return context.refuse("shares the maximum with ranks over too few axes");
    } else {
      for (StringAttr axis : axes)
        if (dependsOn(held, axis))
          return context.refuse("takes the extremum over " + quote(axis) + " of shards");
    }
    held.affine.reset();
    results.push_back(held);
  }
  return results;
}

template <typename Change>
static Result changeAll(LemmaContext &context, Change change) {
  SmallVector<Held, 0> results(context.operands);
  for (Held &held : results) {
    held.affine.reset(), held.below.reset();
    if (failed(change(held)))
      return failure();
  }
  return results;
}

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
  result.affine.reset(), result.below.reset();
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
  result.what = context.numbers.transpose(base, *dims);
  return result;
}

template <typename Move>
static Result moveAllDigits(LemmaContext &context, Move move) {
  SmallVector<Held, 0> results;
  for (unsigned operand = 0; operand < context.operands.size(); ++operand) {
    FailureOr<Held> moved = moveDigits(context, operand, move);
    if (failed(moved))
      return failure();
    results.push_back(*moved);
  }
  return results;
}

static Result exchangeBlocks(LemmaContext &context) {
  MeshAttr mesh = context.mesh;
  return llvm::TypeSwitch<Operation *, Result>(context.op)
      .Case([&](AllGatherOp op) {
        return moveAllDigits(
            context, [&](Layout &layout) { return layout.join(op.getDim(), readAxes(op.getAxes(), mesh)); });
      })
      .Case([&](AllSliceOp op) {
        return moveAllDigits(
            context, [&](Layout &layout) { return layout.cut(op.getDim(), readAxes(op.getAxes(), mesh)); });
      })
      .Case([&](AllToAllOp op) {
        return moveAllDigits(context, [&](Layout &layout) {
          return layout.exchange(op.getSplit(), op.getConcat(), readAxes(op.getAxes(), mesh));
        });
      })
      .Case([&](TransposeOp op) {
        return moveAllDigits(context,
                             [&](Layout &layout) { return layout.transpose(op.getPermutation()), true; });
      })
      .Case([&](ReshapeOp op) {
        return moveAllDigits(context,
                             [&](Layout &layout) { return layout.reshape(op.getType().getShape()); });
      })
      .Default(
          [&](Operation *) { return context.refuse("reads a tensor of which a rank holds several blocks"); });
}

/// Two descriptions of results. Both are true; where only one is of dimensions it is that, else the one that
/// one device computes.
static Result choose(LemmaContext &context, Result dims, Result blocks) {
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

static Result exchange(LemmaContext &context) {
  MeshAttr mesh = context.mesh;
  return llvm::TypeSwitch<Operation *, Result>(context.op)
      .Case([&](AllReduceOp op) { return reduceAll(context, op); })
      .Case([&](AllGatherOp op) {
        Axes axes = readAxes(op.getAxes(), mesh);
        return changeAll(context, [&](Held &held) { return join(context, held, op.getDim(), axes); });
      })
      .Case([&](ReduceScatterOp op) {
        Axes axes = readAxes(op.getAxes(), mesh);
        return changeAll(context, [&](Held &held) {
          return success(succeeded(addUp(context, held, axes)) &&
                         succeeded(cut(context, held, op.getDim(), axes)));
        });
      })
      .Case([&](AllSliceOp op) {
        Axes axes = readAxes(op.getAxes(), mesh);
        return changeAll(context, [&](Held &held) { return cut(context, held, op.getDim(), axes); });
      })
      .Default([&](Operation *) { return context.refuse("is an exchange of which no lemma is known"); });
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Zeros behind a dimension are padding of a value that has no elements there; what is cut off behind its
/// size was none of it.
static Result resize(LemmaContext &context, ArrayRef<int64_t> offsets) {
  Result itself = applyRuleOf(context);
  if (succeeded(itself) && context.isKnown(itself->front().what))
    return itself;
  Held result = context.operands[0];
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
    if (held.isConstant && !offsets[dim]) {
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
/// The same elements under another shape. A dimension that is cut becomes the major part of one of the
/// result's before which there are as many elements; among dimensions of one element the reference's shape
/// decides.
class ReshapeLemma {
public:
  explicit ReshapeLemma(LemmaContext &context)
      : context(context), input(context.operands[0]),
        shape(cast<RankedTensorType>(context.op->getResult(0).getType()).getShape()) {}

  Result run() {
    for (int64_t dim = 0, rank = input.dims.size(); dim < rank; ++dim) {
      const HeldDim &held = input.dims[dim];
      // Of a value that has every index, or the same elements everywhere, these are as many as ranks have.
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
    result.affine.reset(), result.below.reset();
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
    int rank = context.isKnown(result.what) ? (result.what != input.what ? 2 : 1) : 0;
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

static Result reshape(LemmaContext &context) {
  const Held &input = context.operands[0];
  if (!input.dims.empty() || !input.affine) {
    Result itself = ReshapeLemma(context).run();
    return choose(context, itself, exchangeBlocks(context));
  }
  // An integer becomes a list of one.
  Held list;
  list.what = Number();
  list.dims.resize(1);
  list.dims[0].size = 1, list.dims[0].padding = HeldDim::Padding::Zero;
  list.shifts.push_back(*input.affine);
  return one(list);
}

/// A list of the offsets of a shard, one per dimension, beside nothing.
static Result concat(LemmaContext &context) {
  Held list;
  list.dims.resize(1);
  list.dims[0].size = context.operands.size(), list.dims[0].padding = HeldDim::Padding::Zero;
  bool hasShift = false;
  for (const Held &held : context.operands) {
    bool isZero = held.what == Number() && held.affine && held.affine->isConstant();
    if (held.shifts.size() != 1 && !isZero)
      return applyRuleOf(context);
    hasShift |= !held.shifts.empty();
    list.shifts.push_back(held.shifts.empty() ? Affine() : held.shifts[0]);
  }
  return hasShift ? one(list) : applyRuleOf(context);
}

//===----------------------------------------------------------------------===//
// Rows by number, cut tables
//===----------------------------------------------------------------------===//

/// An op whose last operand is where the shard begins that `operand` has along `dim`.
static Result withOffset(LemmaContext &context, unsigned operand, int64_t dim) {
  const std::optional<Affine> &offset = context.operands.back().affine;
  if (!offset || !isOffset(*offset, context.operands[operand].dims[dim].axes, context.extent(operand, dim),
                           context.mesh))
    return context.refuse("has an offset that is not that of its shard of operand " + Twine(operand));
  context.hasOffset = true;
  return applyRuleOf(context);
}

/// Rows of a table; one that is cut by rows has an offset, or its rows are taken for others.
static Result takeRows(LemmaContext &context) {
  if (context.operands.size() == 3)
    return withOffset(context, /*operand=*/1, /*dim=*/0);
  if (!context.operands[1].dims[0].axes.empty())
    return context.refuse("looks up rows in a shard of a table as if it were the whole");
  return applyRuleOf(context);
}

/// Sums into rows of a table: those of a shard begin at the offset. No id names a row beyond the table.
static Result addRows(LemmaContext &context) {
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
  Result results = applyRuleOf(context);
  if (failed(results))
    return results;
  HeldDim &rows = results->front().dims[0];
  rows.axes = axes, rows.size = HeldDim::kUnbounded, rows.padding = HeldDim::Padding::Zero,
  rows.isConstant = false;
  return results;
}

static Result crossEntropyBackward(LemmaContext &context, CrossEntropyBackwardOp op) {
  const Held &logits = context.operands[1];
  if (logits.dims.back().size != static_cast<int64_t>(op.getClasses()))
    return context.refuse("counts " + Twine(op.getClasses()) + " classes, of which one device has " +
                          Twine(logits.dims.back().size));
  if (context.operands.size() == 5)
    return withOffset(context, /*operand=*/1, logits.dims.size() - 1);
  if (!logits.dims.back().axes.empty())
    return context.refuse("takes a shard of the logits for all of them");
  return applyRuleOf(context);
}

/// Whether the last operand, a list of offsets, has those of the first `count` dimensions of an operand's
/// shard. Of a value that is constant along one, they say which shard it is.
static LogicalResult checkOffsets(LemmaContext &context, unsigned operand, int64_t count, Held &input) {
  const Held &offsets = context.operands.back();
  for (int64_t dim = 0; dim < count; ++dim) {
    Affine shift = offsets.shifts.empty() ? Affine() : offsets.shifts[dim];
    int64_t extent = context.extent(operand, dim);
    if (input.dims[dim].isConstant)
      if (std::optional<Axes> axes = findCut(shift, extent, context.mesh)) {
        input.dims[dim] = HeldDim();
        input.dims[dim].axes = *axes;
      }
    if (input.dims[dim].isConstant || !isOffset(shift, input.dims[dim].axes, extent, context.mesh))
      return context.refuse("has offsets that are not those of its shard along dimension " + Twine(dim));
  }
  return success();
}

/// Elements are kept or dropped by their place in the one-device value, which offsets say.
static Result dropout(LemmaContext &context) {
  SmallVector<Held, 0> operands(context.operands);
  if (failed(checkOffsets(context, 0, operands[0].dims.size(), operands[0])))
    return failure();
  LemmaContext placed(context.op, operands, context.mesh, context.numbers, context.isKnown);
  Result results = applyRuleOf(placed);
  context.reason = placed.reason;
  return results;
}

/// Positions say which rows see each other; only the counters of dropout depend on where a shard lies.
template <typename Op>
static Result attention(LemmaContext &context, Op op, unsigned q) {
  const Held &keys = context.operands[q + 1];
  Held queries = context.operands[q];
  if (op.getKey() &&
      (failed(checkOffsets(context, q, queries.dims.size() - 1, queries)) || !keys.dims[1].axes.empty()))
    return context.refuse("drops scores of a shard as if they lay elsewhere");
  if (op.getDiagonal() && (!context.operands[q].dims[1].axes.empty() || !keys.dims[1].axes.empty()))
    return context.refuse("takes rows of a shard for the diagonal of all");
  return applyRuleOf(context);
}

/// The logarithm of the denominator of a rank's logits, and the target's logit where the rank has it.
static Result crossEntropyShard(LemmaContext &context, CrossEntropyShardOp op) {
  const Held &logits = context.operands[0], &targets = context.operands[1], &offset = context.operands[2];
  const HeldDim &classes = logits.dims.back();
  if (!offset.affine ||
      !isOffset(*offset.affine, classes.axes, context.extent(0, logits.dims.size() - 1), context.mesh))
    return context.refuse("has an offset that is not that of its shard of the logits");
  if (classes.size != static_cast<int64_t>(op.getClasses()))
    return context.refuse("counts " + Twine(op.getClasses()) + " classes, of which one device has " +
                          Twine(classes.size));
  if (!logits.pending.empty() || !targets.pending.empty())
    return context.refuse("reads a sum that is pending over " + quote(logits.pending));
  Held lse, picked;
  lse.dims.assign(logits.dims.begin(), logits.dims.end() - 1);
  for (auto [dim, target] : llvm::zip(lse.dims, targets.dims)) {
    if (dim.axes != target.axes || dim.size != target.size)
      return context.refuse("has targets that are cut in another way than logits");
    dim.padding = HeldDim::Padding::Any;
  }
  picked.dims = lse.dims;
  lse.what = OpNumbers::getLse(logits.what), picked.what = OpNumbers::getPicked(logits.what, targets.what);
  lse.logPending = picked.pending = classes.axes;
  return SmallVector<Held, 0>{lse, picked};
}

/// A logarithm of a sum over ranks may be measured from a number that they share.
static Result logarithm(LemmaContext &context) {
  const Held &x = context.operands[0];
  if (isa<math::ExpOp>(context.op)) {
    Held result = x;
    result.what = context.numbers.exp(x.what);
    std::swap(result.logPending, result.pending);
    return one(result);
  }
  const Held &shift = context.operands[1];
  if (!shift.logPending.empty() || !shift.pending.empty() || !x.pending.empty())
    return context.refuse("shifts a pending logarithm by another pending value");
  for (StringAttr axis : x.logPending)
    if (dependsOn(shift, axis))
      return context.refuse("shifts a pending logarithm by what differs over " + quote(axis));
  Held result = x;
  result.what = isa<arith::SubFOp>(context.op) ? x.what - shift.what : x.what + shift.what;
  return one(result);
}

static Result applyOwnLemma(LemmaContext &context);

FailureOr<SmallVector<Held, 0>> par::applyLemma(LemmaContext &context) {
  Operation *op = context.op;
  auto hasLayout = [](const Held &held) { return bool(held.layout); };
  if (isa<WaitOp>(op) || !llvm::any_of(context.operands, hasLayout))
    return isa<AllToAllOp>(op) ? exchangeBlocks(context) : applyOwnLemma(context);
  Result blocks = exchangeBlocks(context);
  if (!llvm::all_of(context.operands, [](const Held &held) { return held.hasDims; }))
    return blocks;
  SmallVector<Held, 0> operands(context.operands);
  for (Held &held : operands)
    held.layout.reset();
  LemmaContext plain(op, operands, context.mesh, context.numbers, context.isKnown);
  Result dims = applyOwnLemma(plain);
  context.reason = plain.reason;
  return choose(context, dims, blocks);
}

static Result applyOwnLemma(LemmaContext &context) {
  Operation *op = context.op;
  if (isa<DropoutOp>(op))
    return dropout(context);
  if (getOpClass(op) == OpClass::Placed)
    return context.refuse("depends on its place, and no lemma says on which");
  if (isa<arith::SubFOp, arith::AddFOp, math::ExpOp>(op) && !context.operands[0].logPending.empty())
    return logarithm(context);
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](AxisIndexOp index) {
        Held held;
        held.affine.emplace();
        if (context.mesh.getSize(index.getAxis()) > 1)
          held.affine->ofAxes[index.getAxisAttr()] = 1;
        held.what = RandomFunction("coordinate").add(index.getAxis()).get();
        return one(held);
      })
      .Case([&](IotaOp iota) {
        Result results = applyRuleOf(context);
        if (failed(results))
          return results;
        Held &held = results->front();
        for (HeldDim &dim : held.dims)
          dim = HeldDim(), dim.isConstant = true;
        held.dims[iota.getDim()].isConstant = false;
        held.affine.emplace();
        held.affine->ofDims[iota.getDim()] = 1;
        return results;
      })
      .Case([&](arith::ConstantOp constant) {
        Result results = applyRuleOf(context);
        auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
        if (succeeded(results) && elements && elements.isSplat() &&
            isa<IntegerType>(elements.getElementType())) {
          results->front().affine.emplace();
          results->front().affine->constant = elements.getSplatValue<APInt>().getSExtValue();
        }
        return results;
      })
      .Case<arith::AddIOp, arith::SubIOp, arith::MulIOp>([&](auto) { return integers(context); })
      .Case<arith::CmpIOp>([&](auto) { return compareIndex(context); })
      .Case([&](ExpandOp expand) { return expandInteger(context, expand); })
      .Case<arith::SelectOp>([&](auto) { return select(context); })
      .Case([&](AttentionOp attend) { return attention(context, attend, 0); })
      .Case([&](AttentionBackwardOp attend) { return attention(context, attend, 1); })
      .Case<ReshapeOp>([&](auto) { return reshape(context); })
      .Case<ConcatOp>([&](auto) { return concat(context); })
      .Case<PadOp, SliceOp>([&](auto shape) { return resize(context, shape.getOffsets()); })
      .Case([&](CrossEntropyShardOp shard) { return crossEntropyShard(context, shard); })
      .Case<TakeRowsOp, EmbeddingOp>([&](auto) { return takeRows(context); })
      .Case<AddRowsOp, EmbeddingBackwardOp>([&](auto) { return addRows(context); })
      .Case([&](CrossEntropyBackwardOp backward) { return crossEntropyBackward(context, backward); })
      .Case<WaitOp>([&](auto) { return SmallVector<Held, 0>(context.operands); })
      .Default([&](Operation *) -> Result {
        if (isa<CollectiveOpInterface, AllSliceOp>(op))
          return exchange(context);
        return applyRuleOf(context);
      });
}
