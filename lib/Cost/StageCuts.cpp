//===- StageCuts.cpp - where a model is cut into chunks -------------------------------------------------===//
#include "par/Cost/StageCuts.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace {
/// Of the chunks so far: what is compared, the slowest first.
struct Load {
  double slowest = std::numeric_limits<double>::infinity(), squares = 0;

  bool exists() const { return slowest < std::numeric_limits<double>::infinity(); }
  Load add(double seconds) const { return {std::max(slowest, seconds), squares + seconds * seconds}; }
  bool operator<(const Load &other) const {
    // Sums of times in another order differ in the last bits.
    double margin = 1e-12 * std::min(slowest, other.slowest);
    if (slowest < other.slowest - margin || other.slowest < slowest - margin)
      return slowest < other.slowest;
    return squares < other.squares;
  }
};
} // namespace

/// No chunk longer than `longest` is looked at.
static std::optional<std::vector<int64_t>> chooseCuts(llvm::ArrayRef<double> seconds, int64_t chunks,
                                                      double longest, mlir::par::MayBeChunk mayBe) {
  auto units = static_cast<int64_t>(seconds.size());
  std::vector<double> before(units + 1); // seconds of all units before
  for (int64_t unit = 0; unit < units; ++unit)
    before[unit + 1] = before[unit] + seconds[unit];
  // best[end]: of the units before `end` in so many chunks; from[chunk][end]: where the last of them begins.
  std::vector<Load> best(units + 1);
  best[0] = {0, 0};
  std::vector<std::vector<int64_t>> from(chunks, std::vector<int64_t>(units + 1));
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    std::vector<Load> next(units + 1);
    int64_t first = chunk; // what begins before it is too long
    for (int64_t end = chunk + 1; end <= units - (chunks - 1 - chunk); ++end) {
      while (before[end] - before[first] > longest)
        ++first;
      for (int64_t begin = first; begin < end; ++begin) {
        if (!best[begin].exists() || !mayBe(chunk, begin, end))
          continue;
        if (Load load = best[begin].add(before[end] - before[begin]); load < next[end]) {
          next[end] = load;
          from[chunk][end] = begin;
        }
      }
    }
    best = std::move(next);
  }
  if (!best[units].exists())
    return std::nullopt;
  std::vector<int64_t> cuts(chunks - 1);
  for (int64_t chunk = chunks - 1, end = units; chunk > 0; --chunk)
    cuts[chunk - 1] = end = from[chunk][end];
  return cuts;
}

std::vector<int64_t> mlir::par::chooseStageCuts(llvm::ArrayRef<double> seconds, int64_t chunks) {
  // Chunks that each end with the unit by which they have their part of the total are no longer than that
  // part and a unit; the same holds where some would be empty, and take a unit of others.
  double total = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  double longest = *std::max_element(seconds.begin(), seconds.end());
  double most = (total / static_cast<double>(chunks) + longest) * (1 + 1e-9);
  return *chooseCuts(seconds, chunks, most, [](int64_t, int64_t, int64_t) { return true; });
}

std::optional<std::vector<int64_t>> mlir::par::chooseStageCuts(llvm::ArrayRef<double> seconds, int64_t chunks,
                                                               MayBeChunk mayBe) {
  return chooseCuts(seconds, chunks, std::numeric_limits<double>::infinity(), mayBe);
}
