//===- Packing.cpp - offsets for buffers of known lifetime ----------------------------------------------===//
#include "Packing.h"
#include <algorithm>
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

Packing mlir::par::packIntervals(std::vector<Interval> &intervals, int64_t alignment) {
  std::vector<size_t> order(intervals.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return intervals[a].bytes > intervals[b].bytes; });
  Packing packing;
  packing.lowerBound = measureLowerBound(intervals);
  std::vector<size_t> placed; // by offset
  for (size_t index : order) {
    Interval &interval = intervals[index];
    int64_t offset = 0;
    for (size_t other : placed) {
      if (!overlap(interval, intervals[other]))
        continue;
      if (offset + interval.bytes <= intervals[other].offset)
        break;
      int64_t end = intervals[other].offset + intervals[other].bytes;
      offset = std::max(offset, (end + alignment - 1) / alignment * alignment);
    }
    interval.offset = offset;
    packing.peak = std::max(packing.peak, offset + interval.bytes);
    auto position = std::upper_bound(placed.begin(), placed.end(), index, [&](size_t a, size_t b) {
      return intervals[a].offset < intervals[b].offset;
    });
    placed.insert(position, index);
  }
  return packing;
}
