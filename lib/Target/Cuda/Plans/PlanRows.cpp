//===- PlanRows.cpp - kernels with sums of rows, and over rows ------------------------------------===//
#include "../OnlineSum.h"
#include "KernelSums.h"

using namespace mlir;
using namespace mlir::par;

/// Elements that a thread keeps in registers: of a row, and of all rows that it reads; with sums over rows,
/// of those too.
static constexpr int64_t kMostOfRow = 24, kMostInRegisters = 64, kMostBesideSums = 96;
/// Registers of a thread beside those: addresses, and what is on the way.
static constexpr int64_t kBesideHeld = 24;
/// Of an H100 or H200: multiprocessors, registers of each, and threads that each holds at a time.
static constexpr int64_t kMultiprocessors = 132, kRegisters = 1 << 16, kMostThreadsAtOnce = 2048;
static constexpr int64_t kQuarters = 4;
/// Registers of a thread with sums over rows, or with as much of a row as it can keep; and most threads of a
/// block. Of twice as many each would have 64, of which addresses take as many as they do of 128.
static constexpr int64_t kMostRegisters = 128;
static constexpr int32_t kMostThreads = kRegisters / kMostRegisters;
/// Threads of a block that walks a row. On an H200, losses: 256 are 4 % quicker than 512, 1024 slower.
static constexpr int32_t kLongRowThreads = 256;
/// Of a row that is longer than they keep so: sums over rows lie in the block's shared memory, if it has so
/// many bytes, and registers have only what rows are summed up of.
static constexpr int64_t kMostOfLongRow = 48;
static constexpr int64_t kMostSharedSums = 128 << 10;
/// Rows of a slice, so that what it leaves of its sums is little beside them. Of more rows, slices are as
/// many as there are registers for: blocks of a second turn find the GPU half empty.
static constexpr int64_t kRowsOfSlice = 16;
/// Blocks that keep a GPU busy with sums, and rows that are worth a warp of them.
static constexpr int64_t kEnoughBlocks = 512, kLeastRows = 4;
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

  /// Registers for each element of a row that a thread keeps.
  int64_t countHeld() const {
    auto isHeld = [&](const Read &read) { return plan_.isAlongRow(read) && !read.isLate; };
    auto held = static_cast<int64_t>(llvm::count_if(plan_.reads, isHeld));
    return plan_.sharesSums ? held : held + static_cast<int64_t>(plan_.sums.size());
  }

  /// True if there are registers for all that is held, and for so many elements of a row.
  bool fits(int32_t threads, int64_t mostOfRow) const {
    int64_t room = plan_.sums.empty() ? kMostInRegisters : kMostBesideSums;
    int64_t most = std::min(mostOfRow, room / std::max<int64_t>(countHeld(), 1));
    return countKept(threads) <= std::max(most, plan_.step);
  }

  /// Threads that keep a row in registers; 0 if it is too long for that.
  int32_t findRowThreads() {
    for (int32_t threads = kWarp; threads <= kMostThreads; threads *= 2)
      if (fits(threads, kMostOfRow))
        return leaveOut(threads);
    delayReads();
    plan_.threads = leaveOut(kMostThreads);
    plan_.sharesSums = !plan_.sums.empty();
    bool hasRoom = plan_.countSharedBytes() <= kMostSharedSums;
    return hasRoom && fits(plan_.threads, kMostOfLongRow) ? plan_.threads : 0;
  }

  /// Less the warps that have nothing to do: of 1,600 elements of bf16, eight would have seven's work.
  int32_t leaveOut(int32_t threads) const {
    int64_t steps = llvm::divideCeilSigned(plan_.countSteps(), countKept(threads) / plan_.step);
    return static_cast<int32_t>(llvm::alignTo(static_cast<uint64_t>(steps), kWarp));
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
    if (plan_.threads)
      plan_.groups = countGroups();
    else
      plan_.threads = kLongRowThreads;
  }

  /// A group for each row where it waits for the others of a row's threads once. Where it does more often,
  /// there are as many as a GPU holds at a time: the next row is fetched while they wait.
  int64_t countGroups() const {
    return findPasses(kernel.block).size() < 2 ? plan_.countRows()
                                               : std::min(plan_.countRows(), countAtOnce());
  }

  /// Groups that a GPU has registers for. Each quarter of a multiprocessor has a quarter of them, and gives a
  /// warp's threads a multiple of eight.
  int64_t countAtOnce() const {
    int64_t registers = countHeld() * countKept(plan_.threads) + kBesideHeld;
    if (plan_.hasLateReads())
      registers = kMostRegisters;
    int64_t perWarp = static_cast<int64_t>(llvm::alignTo(static_cast<uint64_t>(registers), 8)) * kWarp;
    int64_t warps = std::min(kQuarters * (kRegisters / kQuarters / perWarp), kMostThreadsAtOnce / kWarp);
    int64_t blocks = std::max<int64_t>(warps * kWarp / plan_.countThreadsOfBlock(), 1);
    return kMultiprocessors * blocks * (plan_.countThreadsOfBlock() / plan_.threads);
  }

  void planRowsAndColumns() {
    plan_.threads = findRowThreads();
    if (!plan_.threads) {
      refuse("rows too long for sums over rows");
      return;
    }
    plan_.kind = PlanKind::RowColumn;
    int64_t rows = plan_.countRows();
    // Whole blocks of them: a group more would have the rows of another one again.
    auto perBlock = static_cast<uint64_t>(plan_.countThreadsOfBlock() / plan_.threads);
    auto wanted = static_cast<uint64_t>(std::max(rows / kRowsOfSlice, kMostSlices));
    plan_.slices = std::min({rows, static_cast<int64_t>(llvm::alignTo(wanted, perBlock)), countAtOnce()});
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
