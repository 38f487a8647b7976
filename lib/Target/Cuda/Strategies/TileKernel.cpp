//===- TileKernel.cpp - elements whose dimensions change places --------------------------------------===//
#include "../PlannedKernels.h"
#include "../RowEvaluator.h"
#include "../ThreadGroup.h"

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
  explicit TileKernel(const KernelTask &task)
      : task(task), plan(task.plan), step(plan.step), last(static_cast<int64_t>(plan.rowDims)),
        tilesAcross(plan.shape[plan.across] / step), tilesAlong(plan.shape[last] / step), launch(describe()),
        noSums(task.work), rows(task, task.name, launch, noSums), warp(rows, kWarp, kBlock) {}

  LogicalResult write() {
    LogicalResult result = writeWarp();
    rows.builder.create<func::ReturnOp>(rows.loc);
    return result;
  }

private:
  /// Sizes of all other dimensions.
  SmallVector<int64_t> getOuter() const {
    SmallVector<int64_t> sizes;
    for (auto [dim, size] : llvm::enumerate(plan.shape))
      if (static_cast<int64_t>(dim) != plan.across && static_cast<int64_t>(dim) != last)
        sizes.push_back(size);
    return sizes;
  }
  /// Warps of one place of the outer dimensions, along both others.
  int64_t countAcross() const { return llvm::divideCeilSigned(tilesAcross, kAcross); }
  int64_t countAlong() const { return llvm::divideCeilSigned(tilesAlong, kAlong); }
  int64_t countWarps() const { return ShapedType::getNumElements(getOuter()) * countAcross() * countAlong(); }

  Launch describe() const {
    Launch launch = describeElements(task);
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
      if (dim == plan.across || dim == last) {
        index.push_back(dim == last ? along : across);
      } else {
        index.push_back(outer.front());
        outer = outer.drop_front();
      }
    return index;
  }

  LogicalResult writeTile(ArrayRef<Value> outer, Value tileAcross, Value tileAlong) {
    Index across = findPlaces(tileAcross), along = findPlaces(tileAlong);
    for (const Read &read : plan.reads)
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
    if (!llvm::is_contained(read.symbols, plan.across))
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
  const KernelPlan &plan;
  const int64_t step, last;
  const int64_t tilesAcross, tilesAlong;
  Launch launch;
  NoSums noSums;
  RowEvaluator rows;
  ThreadGroup warp;
};
} // namespace

LogicalResult par::writeTileKernel(const KernelTask &task) { return TileKernel(task).write(); }
