//===- Packing.cpp - offsets for buffers of known lifetime ----------------------------------------------===//
#include "Packing.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

using namespace mlir::par;

static bool overlap(const Interval &a, const Interval &b) { return a.begin <= b.end && b.begin <= a.end; }

/// Most bytes live at one point, by sweeping over begins and ends.
static int64_t measureLowerBound(const std::vector<Interval> &intervals) {
  std::map<int64_t, int64_t> changes;
  for (const Interval &interval : intervals) {
    changes[interval.begin] += interval.bytes;
    changes[interval.end + 1] -= interval.bytes;
  }
  int64_t live = 0, most = 0;
  for (auto [point, change] : changes)
    most = std::max(most, live += change);
  return most;
}

/// First fit, in this order. Copies of those placed lie side by side: the walk over them is all the work.
static Packing packInOrder(std::vector<Interval> &intervals, const std::vector<size_t> &order,
                           int64_t alignment) {
  Packing packing;
  std::vector<Interval> placed; // by offset
  placed.reserve(intervals.size());
  for (size_t index : order) {
    Interval &interval = intervals[index];
    int64_t offset = 0;
    for (const Interval &other : placed) {
      if (!overlap(interval, other))
        continue;
      if (offset + interval.bytes <= other.offset)
        break;
      offset = std::max<int64_t>(offset, llvm::alignTo(other.offset + other.bytes, alignment));
    }
    interval.offset = offset;
    packing.peak = std::max(packing.peak, offset + interval.bytes);
    auto position =
        std::upper_bound(placed.begin(), placed.end(), offset,
                         [](int64_t offset, const Interval &other) { return offset < other.offset; });
    placed.insert(position, interval);
  }
  return packing;
}

/// What an order sorts by, largest first.
using Key = std::pair<int64_t, int64_t>;

static std::vector<size_t> sortDown(const std::vector<Interval> &intervals, Key (*key)(const Interval &)) {
  std::vector<size_t> order(intervals.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return key(intervals[a]) > key(intervals[b]); });
  return order;
}

static int64_t getLength(const Interval &interval) { return interval.end - interval.begin + 1; }

namespace {
/// The best packing so far of one set of intervals.
class BestPacking {
public:
  BestPacking(std::vector<Interval> &intervals, int64_t alignment)
      : intervals(intervals), alignment(alignment) {
    best.lowerBound = measureLowerBound(intervals);
    best.peak = std::numeric_limits<int64_t>::max();
  }

  /// Gaps of alignment are not worth another try.
  bool isTight() const { return best.peak <= best.lowerBound + best.lowerBound / 500; }

  /// Packs in this order, and again with those first that lay above the bound, until it is tight or `rounds`
  /// are over: what did not fit chooses its place before what was in its way. An order that stays as it is
  /// would be packed as before.
  void tryOrder(std::vector<size_t> order, int64_t rounds) {
    for (int64_t round = 0; round < rounds && !isTight(); ++round) {
      std::vector<Interval> other = intervals;
      Packing packing = packInOrder(other, order, alignment);
      if (packing.peak < best.peak) {
        best.peak = packing.peak;
        intervals = other;
      }
      auto isAbove = [&](size_t index) { return other[index].offset + other[index].bytes > best.lowerBound; };
      if (std::is_partitioned(order.begin(), order.end(), isAbove))
        return;
      std::stable_partition(order.begin(), order.end(), isAbove);
    }
  }

  const Packing &get() const { return best; }

private:
  std::vector<Interval> &intervals;
  int64_t alignment;
  Packing best;
};
} // namespace

/// Largest, longest, most bytes times points, latest begin, latest end.
static constexpr Key (*kOrders[])(const Interval &) = {
    [](const Interval &interval) { return Key(interval.bytes, 0); },
    [](const Interval &interval) { return Key(getLength(interval), interval.bytes); },
    [](const Interval &interval) { return Key(getLength(interval) * interval.bytes, 0); },
    [](const Interval &interval) { return Key(-interval.begin, interval.bytes); },
    [](const Interval &interval) { return Key(interval.end, interval.bytes); }};

Packing mlir::par::packIntervals(std::vector<Interval> &intervals, int64_t alignment) {
  // A round walks pairs of intervals. Where there are thousands, one is enough: they leave little unused.
  constexpr int64_t kPairs = 2'000'000;
  constexpr int64_t kMostRounds = 24;
  auto count = static_cast<int64_t>(intervals.size());
  auto rounds = std::min<int64_t>(kPairs / (count * count + 1), kMostRounds);
  BestPacking best(intervals, alignment);
  best.tryOrder(sortDown(intervals, kOrders[0]), std::max<int64_t>(rounds, 1));
  for (auto key : llvm::drop_begin(kOrders))
    best.tryOrder(sortDown(intervals, key), rounds);
  return best.get();
}
