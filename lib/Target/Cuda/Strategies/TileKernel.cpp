//===- TileKernel.cpp - elements whose dimensions change places --------------------------------------===//
#include "../KernelReads.h"
#include "../KernelStrategy.h"
#include "../RowEvaluator.h"
#include "../ThreadGroup.h"
#include <numeric>

using namespace mlir;
using namespace mlir::par;

static constexpr int32_t kBlock = 128;
/// Tiles of a warp: so many along rows of what is read, and of what is written. Two or more side by side are
/// whole sectors of 32 bytes.
static constexpr int64_t kAcross = 4, kAlong = kWarp / kAcross;

namespace {
/// A thread has a square of `step` rows of `step` elements. It loads it by rows of what is read and stores it
/// by rows of what is written, all in whole accesses; in between elements change places in registers.
class TileKernel {
public:
  TileKernel(const KernelTask &task, const IterationSpace &space, int64_t turned, StringRef plan)
      : task(task), space(space), turned(turned), step(space.step), last(static_cast<int64_t>(space.rowDims)),
        tilesAcross(space.shape[turned] / step), tilesAlong(space.shape[last] / step), launch(describe(plan)),
        noSums(task.work), rows(task, space, task.name, launch, noSums), warp(rows, kWarp, kBlock) {}

  LogicalResult write() {
    LogicalResult result = writeWarp();
    rows.builder.create<func::ReturnOp>(rows.loc);
    return result;
  }

private:
  /// Sizes of all other dimensions.
  SmallVector<int64_t> getOuter() const {
    SmallVector<int64_t> sizes;
    for (auto [dim, size] : llvm::enumerate(space.shape))
      if (static_cast<int64_t>(dim) != turned && static_cast<int64_t>(dim) != last)
        sizes.push_back(size);
    return sizes;
  }
  /// Warps of one place of the outer dimensions, along both others.
  int64_t countAcross() const { return llvm::divideCeilSigned(tilesAcross, kAcross); }
  int64_t countAlong() const { return llvm::divideCeilSigned(tilesAlong, kAlong); }
  int64_t countWarps() const { return ShapedType::getNumElements(getOuter()) * countAcross() * countAlong(); }

  Launch describe(StringRef plan) const {
    Launch launch = describeElements(task, plan);
    launch.threads = kBlock;
    launch.blocks = llvm::divideCeilSigned(countWarps() * kWarp, kBlock);
    return launch;
  }

  /// Warps and lanes behind the last tile have nothing to do.
  LogicalResult writeWarp() {
    Index place =
        rows.delinearize(warp.number, {ShapedType::getNumElements(getOuter()), countAcross(), countAlong()});
    Index lane = rows.delinearize(warp.thread, {kAcross, kAlong});
    Value isThere;
    auto limit = [&](Value number, int64_t count, bool isExact) {
      if (isExact)
        return;
      Value isIn = rows.compare(arith::CmpIPredicate::ult, number, rows.constantIndex(count));
      isThere = isThere ? rows.create<arith::AndIOp>(isThere, isIn) : isIn;
    };
    auto join = [&](Value warps, int64_t lanes, Value own) -> Value {
      return rows.create<arith::AddIOp>(rows.create<arith::MulIOp>(warps, rows.constantIndex(lanes)), own);
    };
    Value across = join(place[1], kAcross, lane[0]), along = join(place[2], kAlong, lane[1]);
    limit(warp.number, countWarps(), countWarps() * kWarp % kBlock == 0);
    limit(across, tilesAcross, tilesAcross % kAcross == 0);
    limit(along, tilesAlong, tilesAlong % kAlong == 0);
    return rows.branch(isThere,
                       [&] { return writeTile(rows.delinearize(place[0], getOuter()), across, along); });
  }

  /// Numbers of the tile's elements along a dimension.
  Index findPlaces(Value tile) {
    Value first = rows.create<arith::MulIOp>(tile, rows.constantIndex(step));
    Index places;
    for (int64_t element = 0; element < step; ++element)
      places.push_back(rows.addIndex(first, element));
    return places;
  }

  Index getIndex(ArrayRef<Value> outer, Value across, Value along) const {
    Index index;
    for (int64_t dim = 0; dim <= last; ++dim)
      if (dim == turned || dim == last) {
        index.push_back(dim == last ? along : across);
      } else {
        index.push_back(outer.front());
        outer = outer.drop_front();
      }
    return index;
  }

  LogicalResult writeTile(ArrayRef<Value> outer, Value tileAcross, Value tileAlong) {
    Index across = findPlaces(tileAcross), along = findPlaces(tileAlong);
    for (const Read &read : space.reads)
      load(read, outer, across, along);
    // All elements before any store: an output may lie over an input that has its order.
    SmallVector<Value> elements;
    for (Value output : task.getOutputs())
      for (Value row : across)
        for (Value column : along) {
          FailureOr<Value> element = rows.evaluate(output, getIndex(outer, row, column));
          if (failed(element))
            return failure();
          elements.push_back(*element);
        }
    auto *next = elements.begin();
    for (auto [out, output] : llvm::enumerate(task.getOutputs())) {
      Value memory = rows.getOperand(task.getOutNumber(static_cast<int64_t>(out)));
      for (Value row : across)
        for (Value column : along)
          rows.store(*next++, getElementTypeOrSelf(output), memory, getIndex(outer, row, column));
    }
    return success();
  }

  /// Loads that are beside each other become one (DeviceCode.cpp), whatever their order here.
  void load(const Read &read, ArrayRef<Value> outer, ArrayRef<Value> across, ArrayRef<Value> along) {
    if (!llvm::is_contained(read.symbols, turned))
      across = across.take_front(1);
    if (!llvm::is_contained(read.symbols, last))
      along = along.take_front(1);
    for (Value row : across)
      for (Value column : along) {
        Index whole = getIndex(outer, row, column), index;
        for (int64_t symbol : read.symbols)
          index.push_back(whole[symbol]);
        rows.remember(read.tensor, index,
                      rows.load(getElementTypeOrSelf(read.tensor), rows.getMemory(read.tensor), index));
      }
  }

  const KernelTask &task;
  const IterationSpace &space;
  const int64_t turned; ///< the dimension along which rows of reads run
  const int64_t step, last;
  const int64_t tilesAcross, tilesAlong;
  Launch launch;
  NoSums noSums;
  RowEvaluator rows;
  ThreadGroup warp;
};

class Tile : public KernelStrategy {
public:
  Tile(IterationSpace space, int64_t turned)
      : KernelStrategy("tile"), space(std::move(space)), turned(turned) {}

  LogicalResult write(const KernelTask &task) const override {
    return task.isAligned ? TileKernel(task, space, turned, name).write() : writeGenericKernel(task);
  }

private:
  const IterationSpace space;
  const int64_t turned;
};
} // namespace

/// The one dimension, beside the last, along which rows of what elements are made of run; none: there are
/// several.
static std::optional<int64_t> findTurned(ArrayRef<Read> reads, int64_t last) {
  std::set<int64_t> dims;
  for (const Read &read : reads)
    if (!read.symbols.empty() && read.symbols.back() != last)
      dims.insert(read.symbols.back());
  return dims.size() == 1 ? std::optional(*dims.begin()) : std::nullopt;
}

/// Dimensions change places: whole accesses of what is read are in several rows of what is written.
StrategyMatch par::matchTile(const KernelRegion &region) {
  if (region.hasSums() || region.isInPlace())
    return {};
  ArrayRef<int64_t> shape = getShape(region.outputs.front());
  KernelReads reads(shape, shape.size(), /*mayTurn=*/true);
  for (Value output : region.outputs)
    if (getShape(output) != shape || !reads.collect(output, countDims(shape.size())))
      return refuse("elements come from other places, one at a time");
  IterationSpace space(shape, shape.size() - 1);
  space.reads = std::move(reads.reads);
  std::optional<int64_t> turned = findTurned(space.reads, static_cast<int64_t>(space.rowDims));
  if (!turned)
    return refuse("elements come from rows of several dimensions");
  space.chooseStep(region.outputs, std::gcd(shape.back(), shape[*turned]), *turned);
  if (space.step == 1)
    return refuse("rows are no whole accesses");
  return {std::make_unique<Tile>(std::move(space), *turned), ""};
}
