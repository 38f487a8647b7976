//===- ReshardLowering.cpp - a change of sharding as collectives ----------------------------------------===//
#include "ReshardLowering.h"

using namespace mlir;
using namespace mlir::par;

static bool contains(ArrayRef<StringAttr> axes, StringAttr axis) { return llvm::is_contained(axes, axis); }

static bool isPrefix(ArrayRef<StringAttr> prefix, ArrayRef<StringAttr> axes) {
  return prefix.size() <= axes.size() && axes.take_front(prefix.size()) == prefix;
}

ReshardLowering::ReshardLowering(OpBuilder &builder, ReshardOp op, MeshAttr mesh, Value local)
    : builder(builder), op(op), mesh(mesh), value(local), source(getSharding(op.getInput())),
      target(op.getTarget()), current(getDimAxes(source)), wanted(getDimAxes(target)),
      padded(cast<RankedTensorType>(op.getInput().getType()).getShape()),
      paddedWanted(op.getType().getShape()),
      logical(op.getLogical() ? SmallVector<int64_t>(*op.getLogical()) : paddedWanted) {}

RankedTensorType ReshardLowering::withDim(int64_t dim, int64_t size) const {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = size;
  return type.clone(shape);
}

ArrayAttr ReshardLowering::axesAttr(ArrayRef<StringAttr> axes) {
  return builder.getArrayAttr(SmallVector<Attribute>(axes.begin(), axes.end()));
}

template <typename Op>
void ReshardLowering::tag(Op collective) {
  if (Attribute cause = op->getAttr(ParDialect::kCauseAttr))
    collective->setAttr(ParDialect::kCauseAttr, cause);
  value = collective->getResult(0);
}

Value ReshardLowering::run() {
  reduce();
  exchange();
  for (int64_t dim = 0; dim < rank(); ++dim)
    if (canSliceNow(dim))
      slice(dim);
  for (int64_t dim = 0; dim < rank(); ++dim)
    gather(dim);
  for (int64_t dim = 0; dim < rank(); ++dim)
    slice(dim);
  SmallVector<StringAttr> fresh;
  for (StringAttr axis : target.getUnreduced())
    if (!contains(source.getUnreduced(), axis))
      fresh.push_back(axis);
  if (!fresh.empty())
    keepCoordinateZero(fresh);
  return value;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

void ReshardLowering::reduce() {
  Axes pending;
  for (StringAttr axis : source.getUnreduced())
    if (!contains(target.getUnreduced(), axis))
      pending.push_back(axis);
  for (int64_t dim = 0; dim < rank() && !pending.empty(); ++dim)
    scatterReduction(dim, pending);
  if (pending.empty())
    return;
  tag(builder.create<AllReduceOp>(op.getLoc(), TypeRange{value.getType()}, ReduceKind::Sum, axesAttr(pending),
                                  ValueRange{value}));
}

/// Reduce-scatter over the pending axes that the target appends to this dimension.
void ReshardLowering::scatterReduction(int64_t dim, Axes &pending) {
  if (!isPrefix(current[dim], wanted[dim]))
    return;
  Axes axes;
  for (StringAttr axis : ArrayRef<StringAttr>(wanted[dim]).drop_front(current[dim].size())) {
    if (!contains(pending, axis))
      break;
    axes.push_back(axis);
  }
  if (axes.empty() || (padded[dim] != paddedWanted[dim] && !current[dim].empty()))
    return;
  resize(dim);
  if (shape()[dim] % mesh.getSize(axes))
    return;
  tag(builder.create<ReduceScatterOp>(op.getLoc(), TypeRange{withDim(dim, shape()[dim] / mesh.getSize(axes))},
                                      axesAttr(axes), dim, ValueRange{value}));
  current[dim].append(axes.begin(), axes.end());
  llvm::erase_if(pending, [&](StringAttr axis) { return contains(axes, axis); });
}

/// Replicated → unreduced: the member at coordinate 0 keeps the value, the others have zeros.
void ReshardLowering::keepCoordinateZero(ArrayRef<StringAttr> axes) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(value.getType());
  auto scalar = RankedTensorType::get({}, builder.getI32Type());
  Value index = buildAxisIndex(builder, loc, mesh, axes);
  Value first = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, index,
                                              buildSplat(builder, loc, scalar, 0));
  if (type.getRank() > 0) {
    auto dims = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    first = builder.create<ExpandOp>(loc, RankedTensorType::get(type.getShape(), builder.getI1Type()), first,
                                     dims);
  }
  value = builder.create<arith::SelectOp>(loc, first, value, buildSplat(builder, loc, type, 0.0));
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

size_t ReshardLowering::keptPrefix(int64_t dim) const {
  if (padded[dim] != paddedWanted[dim])
    return 0;
  size_t length = 0;
  while (length < current[dim].size() && length < wanted[dim].size() &&
         current[dim][length] == wanted[dim][length])
    ++length;
  return length;
}

void ReshardLowering::exchange() {
  for (int64_t from = 0; from < rank(); ++from)
    for (int64_t to = 0; to < rank(); ++to)
      if (from != to && exchangeBetween(from, to))
        return exchange();
}

/// The longest run of axes of dimension `from` that the target has next in dimension `to`, and the number of
/// axes of `from` that are minor to it.
std::pair<ArrayRef<StringAttr>, size_t> ReshardLowering::findExchanged(int64_t from, int64_t to) const {
  ArrayRef<StringAttr> axes = ArrayRef<StringAttr>(current[from]).drop_front(keptPrefix(from)), best;
  if (!isPrefix(current[to], wanted[to]))
    return {best, 0};
  ArrayRef<StringAttr> next = ArrayRef<StringAttr>(wanted[to]).drop_front(current[to].size());
  size_t minor = 0;
  for (size_t begin = 0; begin < axes.size(); ++begin) {
    size_t length = 0;
    while (length < next.size() && begin + length < axes.size() && axes[begin + length] == next[length])
      ++length;
    if (length > best.size())
      best = axes.slice(begin, length), minor = axes.size() - begin - length;
  }
  return {best, minor};
}

/// Whether the target has any of these axes in another dimension.
bool ReshardLowering::isWantedElsewhere(int64_t dim, ArrayRef<StringAttr> axes) const {
  for (int64_t other = 0; other < rank(); ++other)
    for (StringAttr axis : axes)
      if (other != dim && contains(wanted[other], axis))
        return true;
  return false;
}

/// All-to-all: axes of one dimension become the next axes of another. A rank sends no more than its part over
/// axes that the target has minor to them there, and gathers over axes minor to them here behind it, when it
/// has less, unless another dimension takes these.
bool ReshardLowering::exchangeBetween(int64_t from, int64_t to) {
  auto [moved, minor] = findExchanged(from, to);
  SmallVector<StringAttr> axes(moved);
  if (axes.empty() || isWantedElsewhere(from, ArrayRef<StringAttr>(current[from]).take_back(minor)))
    return false;
  size_t left = current[from].size() - minor - axes.size();
  if ((padded[from] != paddedWanted[from] && left != 0) ||
      (padded[to] != paddedWanted[to] && !current[to].empty()))
    return false;
  int64_t members = mesh.getSize(axes);
  int64_t size = current[to].empty() ? paddedWanted[to] : shape()[to];
  if (size % members)
    return false;
  resize(to);
  Axes minorWanted = sliceMinor(to, axes);
  RankedTensorType type = withDim(to, shape()[to] / members);
  SmallVector<int64_t> sizes(type.getShape());
  sizes[from] *= members;
  tag(builder.create<AllToAllOp>(op.getLoc(), TypeRange{type.clone(sizes)}, axesAttr(axes), to, from,
                                 ValueRange{value}));
  gatherMinor(from, members, ArrayRef<StringAttr>(current[from]).take_back(minor));
  current[from].truncate(left);
  current[to].append(axes.begin(), axes.end());
  llvm::append_range(current[to], minorWanted);
  if (left == 0 && wanted[from].empty())
    resize(from);
  return true;
}

/// One dimension becomes two: the number of a block, and the place within it.
void ReshardLowering::splitIntoBlocks(int64_t dim, int64_t blocks) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> divided(type.getShape());
  divided[dim] /= blocks;
  divided.insert(divided.begin() + dim, blocks);
  value = builder.create<ReshapeOp>(op.getLoc(), type.clone(divided), value);
}

/// The dimension only gains axes, and no other dimension must give them up first.
bool ReshardLowering::canSliceNow(int64_t dim) const {
  if (!isPrefix(current[dim], wanted[dim]) || current[dim].size() == wanted[dim].size() ||
      (padded[dim] != paddedWanted[dim] && !current[dim].empty()))
    return false;
  return llvm::none_of(ArrayRef<StringAttr>(wanted[dim]).drop_front(current[dim].size()),
                       [&](StringAttr axis) { return splitsNow(axis); });
}

bool ReshardLowering::splitsNow(StringAttr axis) const {
  return llvm::any_of(current, [&](const Axes &axes) { return contains(axes, axis); });
}

void ReshardLowering::slice(int64_t dim) {
  if (current[dim].empty())
    resize(dim);
  SmallVector<StringAttr> axes(ArrayRef<StringAttr>(wanted[dim]).drop_front(current[dim].size()));
  if (axes.empty())
    return;
  tag(builder.create<AllSliceOp>(op.getLoc(), withDim(dim, shape()[dim] / mesh.getSize(axes)), axesAttr(axes),
                                 dim, value));
  current[dim] = wanted[dim];
}

void ReshardLowering::gather(int64_t dim) {
  size_t prefix = isPrefix(current[dim], wanted[dim]) && padded[dim] == paddedWanted[dim]
                      ? current[dim].size()
                      : keptPrefix(dim);
  SmallVector<StringAttr> axes(ArrayRef<StringAttr>(current[dim]).drop_front(prefix));
  if (axes.empty())
    return;
  tag(builder.create<AllGatherOp>(op.getLoc(), TypeRange{withDim(dim, shape()[dim] * mesh.getSize(axes))},
                                  axesAttr(axes), dim, ValueRange{value}));
  current[dim].truncate(prefix);
  if (prefix == 0)
    resize(dim);
}

/// Takes this rank's part over the axes that the target has behind `axes`, within each of the blocks that are
/// about to travel over these.
Axes ReshardLowering::sliceMinor(int64_t dim, ArrayRef<StringAttr> axes) {
  Axes minor;
  for (StringAttr axis : ArrayRef<StringAttr>(wanted[dim]).drop_front(current[dim].size() + axes.size())) {
    if (splitsNow(axis))
      break;
    minor.push_back(axis);
  }
  int64_t blocks = mesh.getSize(axes), parts = mesh.getSize(minor);
  if (minor.empty() || shape()[dim] % (blocks * parts))
    return {};
  Location loc = op.getLoc();
  RankedTensorType part = withDim(dim, shape()[dim] / parts);
  splitIntoBlocks(dim, blocks);
  tag(builder.create<AllSliceOp>(loc, withDim(dim + 1, shape()[dim + 1] / parts), axesAttr(minor), dim + 1,
                                 value));
  value = builder.create<ReshapeOp>(loc, part, value);
  return minor;
}

/// Gathers over axes minor to those over which `blocks` blocks of a dimension have come together: within
/// each.
void ReshardLowering::gatherMinor(int64_t dim, int64_t blocks, ArrayRef<StringAttr> axes) {
  if (axes.empty())
    return;
  Location loc = op.getLoc();
  int64_t parts = mesh.getSize(axes);
  RankedTensorType whole = withDim(dim, shape()[dim] * parts);
  splitIntoBlocks(dim, blocks);
  tag(builder.create<AllGatherOp>(loc, TypeRange{withDim(dim + 1, shape()[dim + 1] * parts)}, axesAttr(axes),
                                  dim + 1, ValueRange{value}));
  value = builder.create<ReshapeOp>(loc, whole, value);
}

void ReshardLowering::resize(int64_t dim) {
  if (padded[dim] == paddedWanted[dim])
    return;
  Location loc = op.getLoc();
  SmallVector<int64_t> zeros(rank(), 0);
  if (shape()[dim] > logical[dim])
    value = builder.create<SliceOp>(loc, withDim(dim, logical[dim]), value, zeros);
  if (paddedWanted[dim] > logical[dim])
    value = builder.create<PadOp>(loc, withDim(dim, paddedWanted[dim]), value, zeros);
  padded[dim] = paddedWanted[dim];
}
