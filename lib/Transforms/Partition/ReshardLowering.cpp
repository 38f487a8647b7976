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

/// All-to-all: the trailing axes of one dimension become the next axes of another.
bool ReshardLowering::exchangeBetween(int64_t from, int64_t to) {
  size_t prefix = keptPrefix(from);
  SmallVector<StringAttr> axes(ArrayRef<StringAttr>(current[from]).drop_front(prefix));
  Axes extended = current[to];
  extended.append(axes.begin(), axes.end());
  if (axes.empty() || !isPrefix(extended, wanted[to]))
    return false;
  if ((padded[from] != paddedWanted[from] && prefix != 0) ||
      (padded[to] != paddedWanted[to] && !current[to].empty()))
    return false;
  resize(to);
  int64_t members = mesh.getSize(axes);
  if (shape()[to] % members)
    return false;
  RankedTensorType type = withDim(to, shape()[to] / members);
  SmallVector<int64_t> sizes(type.getShape());
  sizes[from] *= members;
  tag(builder.create<AllToAllOp>(op.getLoc(), TypeRange{type.clone(sizes)}, axesAttr(axes), to, from,
                                 ValueRange{value}));
  current[from].truncate(prefix);
  current[to] = extended;
  if (prefix == 0 && wanted[from].empty())
    resize(from);
  return true;
}

/// The dimension only gains axes, and no other dimension must give them up first.
bool ReshardLowering::canSliceNow(int64_t dim) const {
  if (!isPrefix(current[dim], wanted[dim]) || current[dim].size() == wanted[dim].size() ||
      (padded[dim] != paddedWanted[dim] && !current[dim].empty()))
    return false;
  for (StringAttr axis : ArrayRef<StringAttr>(wanted[dim]).drop_front(current[dim].size()))
    for (const Axes &axes : current)
      if (contains(axes, axis))
        return false;
  return true;
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
