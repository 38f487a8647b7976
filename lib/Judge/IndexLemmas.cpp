//===- IndexLemmas.cpp - integers that follow from indices and coordinates, and masks ------------===//
#include "Lemma.h"

using namespace mlir;
using namespace mlir::par;

bool par::isOffset(const Affine &affine, ArrayRef<StringAttr> axes, int64_t extent, MeshAttr mesh) {
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

std::optional<Axes> par::findCut(const Affine &affine, int64_t extent, MeshAttr mesh) {
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
static std::optional<Held> moveOffsets(LemmaContext &context) {
  ArrayRef<Held> x = context.operands;
  if (!isa<arith::AddIOp>(context.op) || x[0].shifts.empty() == x[1].shifts.empty())
    return std::nullopt;
  bool isRight = x[0].shifts.empty(); // the list of shifts is
  Held result = x[isRight ? 0 : 1];
  result.dropFacts();
  result.what = x[0].what + x[1].what;
  result.shifts = x[isRight ? 1 : 0].shifts;
  result.coordinates.append(x[isRight ? 1 : 0].coordinates.begin(), x[isRight ? 1 : 0].coordinates.end());
  return result;
}

/// Sums and products of integers. An index along a dimension, plus the shard's offset, is cut along it.
LemmaResult par::applyToIntegers(LemmaContext &context) {
  if (std::optional<Held> moved = moveOffsets(context))
    return one(*moved);
  LemmaResult results = applyRule(context);
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
    result.coordinates = context.operands[index].coordinates;
    result.dims[dim].axes = *axes;
    result.dims[dim].isConstant = false;
    result.dims[dim].size = HeldDim::kUnbounded;
  }
  return results;
}

LemmaResult par::applyToComparison(LemmaContext &context, arith::CmpIOp compare) {
  LemmaResult results = applyRule(context);
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

LemmaResult par::applyToExpand(LemmaContext &context, ExpandOp expand) {
  LemmaResult results = applyRule(context);
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
static LemmaResult keepOnFirst(LemmaContext &context) {
  Held result = context.operands[1];
  result.dropFacts();
  for (StringAttr axis : context.operands[0].first) {
    if (result.dependsOn(axis))
      return context.refuse("keeps on the first rank over " + quote(axis) + " what is not the same on all");
    result.pending.push_back(axis);
  }
  return one(result);
}

/// Elements behind a bound that is the size are padding, and hold the other value.
static LemmaResult maskPadding(LemmaContext &context) {
  const Held &condition = context.operands[0], &other = context.operands[2];
  Held result = context.operands[1];
  HeldDim &dim = result.dims[condition.below->dim];
  if (dim.isConstant || condition.dims[condition.below->dim].axes != dim.axes || !other.coordinates.empty())
    return applyRule(context);
  if (dim.size == HeldDim::kUnbounded) // a value of every index ends there
    dim.size = condition.below->bound;
  if (condition.below->bound < dim.size)
    return applyRule(context);
  result.dropFacts();
  if (condition.below->bound > dim.size)
    return one(result);
  dim.padding = other.isZero()                             ? HeldDim::Padding::Zero
                : other.what == Number::ofFloat(-HUGE_VAL) ? HeldDim::Padding::NegativeInfinity
                                                           : HeldDim::Padding::Any;
  return one(result);
}

LemmaResult par::applyToSelect(LemmaContext &context) {
  const Held &condition = context.operands[0], &value = context.operands[1], &other = context.operands[2];
  if (!condition.first.empty() && other.isZero())
    return keepOnFirst(context);
  bool isLinear =
      value.logPending.empty() && value.extreme.empty() && (other.isZero() || value.pending.empty());
  return condition.below && isLinear && value.hasDims ? maskPadding(context) : applyRule(context);
}

LemmaResult par::applyToAxisIndex(LemmaContext &context, AxisIndexOp op) {
  Held held;
  held.affine.emplace();
  held.what = RandomFunction("coordinate").add(op.getAxis()).get();
  if (context.mesh.getSize(op.getAxis()) > 1) {
    held.affine->ofAxes[op.getAxisAttr()] = 1;
    held.coordinates.push_back(op.getAxisAttr());
  }
  return one(held);
}

LemmaResult par::applyToIota(LemmaContext &context, IotaOp op) {
  LemmaResult results = applyRule(context);
  if (failed(results))
    return results;
  Held &held = results->front();
  for (HeldDim &dim : held.dims)
    dim = HeldDim(), dim.isConstant = true;
  held.dims[op.getDim()].isConstant = false;
  held.affine.emplace();
  held.affine->ofDims[op.getDim()] = 1;
  return results;
}

LemmaResult par::applyToConstant(LemmaContext &context, arith::ConstantOp op) {
  LemmaResult results = applyRule(context);
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (succeeded(results) && elements && elements.isSplat() && isa<IntegerType>(elements.getElementType())) {
    results->front().affine.emplace();
    results->front().affine->constant = elements.getSplatValue<APInt>().getSExtValue();
  }
  return results;
}
