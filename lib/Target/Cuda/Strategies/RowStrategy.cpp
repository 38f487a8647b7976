//===- RowStrategy.cpp - threads for rows, as many as have registers ------------------------------===//
#include "RowStrategy.h"
#include "../OnlineSum.h"

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
/// Of a row that is longer than they keep so: sums over rows lie in the block's shared memory, if it has so
/// many bytes, and registers have only what rows are summed up of.
static constexpr int64_t kMostOfLongRow = 48;
static constexpr int64_t kMostSharedSums = 128 << 10;
/// Rows of a slice, so that what it leaves of its sums is little beside them. Of more rows, slices are as
/// many as there are registers for: blocks of a second turn find the GPU half empty.
static constexpr int64_t kRowsOfSlice = 16;

namespace {
class RowPlanner {
public:
  explicit RowPlanner(const KernelRegion &region)
      : region(region),
        made(std::make_unique<RowStrategy>(region.columns.empty() ? "row" : "row-column", region.space)),
        row(*made) {}

  StrategyMatch plan() {
    row.sums = region.columns;
    row.ofSums = region.ofColumns;
    row.threads = findRowThreads();
    // Without sums over rows the next strategy has them.
    if (!row.threads)
      return row.sums.empty() ? StrategyMatch() : refuse("rows too long for sums over rows");
    if (row.sums.empty())
      row.groups = countGroups();
    else
      planSlices();
    return {std::move(made), ""};
  }

private:
  /// Elements of a row that a thread of a group keeps.
  int64_t countKept(int32_t threads) const {
    return llvm::divideCeilSigned(row.space.countSteps(), threads) * row.space.step;
  }

  /// Registers for each element of a row that a thread keeps.
  int64_t countHeld() const {
    auto isHeld = [&](const Read &read) { return row.space.isAlongRow(read) && !read.isLate; };
    auto held = static_cast<int64_t>(llvm::count_if(row.space.reads, isHeld));
    return row.sharesSums ? held : held + static_cast<int64_t>(row.sums.size());
  }

  /// True if there are registers for all that is held, and for so many elements of a row.
  bool fits(int32_t threads, int64_t mostOfRow) const {
    int64_t room = row.sums.empty() ? kMostInRegisters : kMostBesideSums;
    int64_t most = std::min(mostOfRow, room / std::max<int64_t>(countHeld(), 1));
    return countKept(threads) <= std::max(most, row.space.step);
  }

  /// Threads that keep a row in registers; 0 if it is too long for that.
  int32_t findRowThreads() {
    for (int32_t threads = kWarp; threads <= kMostThreads; threads *= 2)
      if (fits(threads, kMostOfRow))
        return leaveOut(threads);
    delayReads();
    row.threads = leaveOut(kMostThreads);
    row.sharesSums = !row.sums.empty();
    bool hasRoom = row.countSharedBytes() <= kMostSharedSums;
    return hasRoom && fits(row.threads, kMostOfLongRow) ? row.threads : 0;
  }

  /// Less the warps that have nothing to do: of 1,600 elements of bf16, eight would have seven's work.
  int32_t leaveOut(int32_t threads) const {
    int64_t steps = llvm::divideCeilSigned(row.space.countSteps(), countKept(threads) / row.space.step);
    return static_cast<int32_t>(llvm::alignTo(static_cast<uint64_t>(steps), kWarp));
  }

  /// What all rows share, and what no sum is made of.
  void delayReads() {
    SmallVector<Value> summed;
    for (Operation &op : region.block)
      if (isa<ReduceOp>(op))
        summed.push_back(op.getOperand(0));
    SmallVector<int64_t> early = findArguments(summed, {});
    for (Read &read : row.space.reads) {
      bool isOfRow = read.symbols.size() == row.space.shape.size();
      auto number = static_cast<int64_t>(read.tensor.getArgNumber());
      read.isLate = row.space.isAlongRow(read) && !(isOfRow && llvm::is_contained(early, number));
    }
  }

  /// A group for each row where it waits for the others of a row's threads once. Where it does more often,
  /// there are as many as a GPU holds at a time: the next row is fetched while they wait.
  int64_t countGroups() const {
    return findPasses(region.block).size() < 2 ? row.space.countRows()
                                               : std::min(row.space.countRows(), countAtOnce());
  }

  /// Groups that a GPU has registers for. Each quarter of a multiprocessor has a quarter of them, and gives a
  /// warp's threads a multiple of eight.
  int64_t countAtOnce() const {
    int64_t registers = countHeld() * countKept(row.threads) + kBesideHeld;
    if (row.space.hasLateReads())
      registers = kMostRegisters;
    int64_t perWarp = static_cast<int64_t>(llvm::alignTo(static_cast<uint64_t>(registers), 8)) * kWarp;
    int64_t warps = std::min(kQuarters * (kRegisters / kQuarters / perWarp), kMostThreadsAtOnce / kWarp);
    int64_t blocks = std::max<int64_t>(warps * kWarp / row.countThreadsOfBlock(), 1);
    return kMultiprocessors * blocks * (row.countThreadsOfBlock() / row.threads);
  }

  void planSlices() {
    int64_t rows = row.space.countRows();
    // Whole blocks of them: a group more would have the rows of another one again.
    auto perBlock = static_cast<uint64_t>(row.countThreadsOfBlock() / row.threads);
    auto wanted = static_cast<uint64_t>(std::max(rows / kRowsOfSlice, kMostSlices));
    row.slices = std::min({rows, static_cast<int64_t>(llvm::alignTo(wanted, perBlock)), countAtOnce()});
    row.groups = row.slices;
    row.hasScratch = true;
  }

  const KernelRegion &region;
  std::unique_ptr<RowStrategy> made;
  RowStrategy &row;
};
} // namespace

StrategyMatch par::matchRow(const KernelRegion &region) {
  bool isOfRows = region.totals.empty() && region.hasRowSums();
  return isOfRows ? RowPlanner(region).plan() : StrategyMatch();
}
