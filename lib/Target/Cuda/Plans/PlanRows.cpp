//===- PlanRows.cpp - kernels with sums of rows, and over rows ------------------------------------===//
#include "KernelSums.h"

using namespace mlir;
using namespace mlir::par;

/// Elements that a thread keeps in registers: of a row, and of all rows that it reads and sums that it has.
static constexpr int64_t kMostOfRow = 24, kMostInRegisters = 64;
/// Most threads of a block, of which each has 128 registers. Of twice as many each would have 64, of which
/// addresses take as many as they do of 128.
static constexpr int32_t kMostThreads = 512;
/// Of a row that is longer than they keep so: sums over rows lie in the block's shared memory, if it has so
/// many bytes, and registers have only what rows are summed up of.
static constexpr int64_t kMostOfLongRow = 48;
static constexpr int64_t kMostSharedSums = 128 << 10;
/// Blocks that keep a GPU busy with sums, and rows that are worth a warp of them.
static constexpr int64_t kEnoughBlocks = 512, kLeastRows = 4;
/// Slices that have a row at a time each, three blocks on each of an H100's multiprocessors: registers allow
/// a fourth for few widths only, and blocks of a second turn find the GPU half empty. Of many rows, beside
/// which what a slice leaves of its sums is little.
static constexpr int64_t kMostOfRows = 384, kRowsOfSlice = 32;
/// Warps of a block that sums columns.
static constexpr int64_t kColumnWarps = 8;
/// Numbers that its warps leave for each other in shared memory.
static constexpr int64_t kMostShared = (48 << 10) / 4;

namespace {
class RowPlanner {
public:
  explicit RowPlanner(const KernelSums &kernel) : kernel(kernel) {}

  KernelPlan plan() {
    auto first = cast<ReduceOp>(kernel.rows.empty() ? kernel.columns.front() : kernel.rows.front());
    llvm::append_range(plan_.shape, getShape(first.getInput()));
    plan_.rowDims = kernel.rows.empty() ? first.getDims().size() : plan_.shape.size() - 1;
    if (!sortOutputs() || !collectReads())
      return plan_;
    findStep(plan_, matrices, plan_.shape.back());
    if (kernel.columns.empty())
      planRowsAlone();
    else if (kernel.rows.empty() && matrices.empty() && rows.empty())
      planColumns();
    else
      planRowsAndColumns();
    return plan_;
  }

private:
  bool refuse(std::string why) {
    plan_ = makeGeneric(std::move(why));
    return false;
  }

  bool sortOutputs() {
    ArrayRef<int64_t> shape = plan_.shape;
    for (auto [number, output] : llvm::enumerate(kernel.outputs)) {
      if (isMadeOf(output, kernel.columns)) {
        if (getShape(output) != shape.drop_front(plan_.rowDims))
          return refuse("a sum over rows is no result");
        if (isMadeOf(output, kernel.rows))
          return refuse("sums of rows and over rows in one result");
        plan_.ofSums.push_back(number);
      } else if (getShape(output) == shape) {
        matrices.push_back(output);
      } else if (getShape(output) == shape.take_front(plan_.rowDims)) {
        rows.push_back(output);
      } else {
        return refuse("results of several shapes");
      }
    }
    for (Operation *sum : kernel.columns) {
      if (getShape(sum->getOperand(0)) != shape || cast<ReduceOp>(sum).getDims().size() != plan_.rowDims)
        return refuse("sums of several shapes");
      if (!Scalars::getHeldType(sum->getResult(0)).isF32())
        return refuse("a sum over rows of no f32");
    }
    plan_.sums = kernel.columns;
    return true;
  }

  bool collectReads() {
    KernelReads reads(plan_.shape, plan_.rowDims);
    auto collect = [&](Value value, size_t dims) {
      return reads.collect(value, countDims(dims)) || refuse(reads.reason);
    };
    for (Value value : matrices)
      if (!collect(value, plan_.shape.size()))
        return false;
    for (Value value : rows)
      if (!collect(value, plan_.rowDims))
        return false;
    for (Operation *sum : kernel.columns)
      if (!collect(sum->getOperand(0), plan_.shape.size()))
        return false;
    plan_.reads = std::move(reads.reads);
    return true;
  }

  /// Elements of a row that a thread of a group keeps.
  int64_t countKept(int32_t threads) const {
    return llvm::divideCeilSigned(plan_.countSteps(), threads) * plan_.step;
  }

  /// True if there are registers for all that is held, and for so many elements of a row.
  bool fits(int32_t threads, int64_t mostOfRow) const {
    auto isHeld = [&](const Read &read) { return plan_.isAlongRow(read) && !read.isLate; };
    auto held = static_cast<int64_t>(llvm::count_if(plan_.reads, isHeld));
    if (!plan_.sharesSums)
      held += static_cast<int64_t>(plan_.sums.size());
    int64_t most = std::min(mostOfRow, kMostInRegisters / std::max<int64_t>(held, 1));
    return countKept(threads) <= std::max(most, plan_.step);
  }

  /// Threads that keep a row in registers; 0 if it is too long for that.
  int32_t findRowThreads() {
    for (int32_t threads = kWarp; threads <= kMostThreads; threads *= 2)
      if (fits(threads, kMostOfRow))
        return threads;
    delayReads();
    plan_.threads = kMostThreads;
    plan_.sharesSums = !plan_.sums.empty();
    bool hasRoom = plan_.countSharedBytes() <= kMostSharedSums;
    return hasRoom && fits(kMostThreads, kMostOfLongRow) ? kMostThreads : 0;
  }

  /// What all rows share, and what no sum is made of.
  void delayReads() {
    SmallVector<Value> summed;
    for (Operation &op : kernel.block)
      if (isa<ReduceOp>(op))
        summed.push_back(op.getOperand(0));
    SmallVector<int64_t> early = findArguments(summed, {});
    for (Read &read : plan_.reads) {
      bool isOfRow = read.symbols.size() == plan_.shape.size();
      auto number = static_cast<int64_t>(read.tensor.getArgNumber());
      read.isLate = plan_.isAlongRow(read) && !(isOfRow && llvm::is_contained(early, number));
    }
  }

  void planRowsAlone() {
    plan_.threads = findRowThreads();
    plan_.kind = plan_.threads ? PlanKind::Row : PlanKind::LongRow;
    if (!plan_.threads)
      plan_.threads = kLoopThreads;
  }

  void planRowsAndColumns() {
    plan_.threads = findRowThreads();
    if (!plan_.threads) {
      refuse("rows too long for sums over rows");
      return;
    }
    plan_.kind = PlanKind::RowColumn;
    int64_t rows = plan_.countRows();
    plan_.slices = std::min(rows, std::clamp(rows / kRowsOfSlice, kMostSlices, kMostOfRows));
  }

  void planColumns() {
    auto sums = static_cast<int64_t>(plan_.sums.size());
    if (kColumnWarps * kWarp * sums > kMostShared) {
      refuse("more sums over rows than shared memory has room for");
      return;
    }
    plan_.kind = PlanKind::Column;
    plan_.threads = kWarp * kColumnWarps;
    while (kColumnWarps * kWarp * plan_.step * sums > kMostShared)
      plan_.step /= 2;
    int64_t tiles = llvm::divideCeilSigned(plan_.countSteps(), kWarp), rows = plan_.countRows();
    int64_t wanted =
        std::min(llvm::divideCeilSigned(kEnoughBlocks, tiles), rows / (kColumnWarps * kLeastRows));
    int64_t slices = std::clamp<int64_t>(wanted, 1, kMostSlices);
    plan_.slices = llvm::divideCeilSigned(rows, llvm::divideCeilSigned(rows, slices));
  }

  const KernelSums &kernel;
  SmallVector<Value> matrices, rows; ///< outputs of the shape, and of its rows
  KernelPlan plan_;
};
} // namespace

KernelPlan par::planRows(const KernelSums &kernel) { return RowPlanner(kernel).plan(); }
