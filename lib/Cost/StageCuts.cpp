//===- StageCuts.cpp - where a model is cut into chunks -------------------------------------------------===//
#include "par/Cost/StageCuts.h"

#include <algorithm>
#include <limits>

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

std::vector<int64_t> mlir::par::chooseStageCuts(llvm::ArrayRef<double> seconds, int64_t chunks) {
  return *chooseStageCuts(seconds, chunks, [](int64_t, int64_t, int64_t) { return true; });
}

std::optional<std::vector<int64_t>> mlir::par::chooseStageCuts(llvm::ArrayRef<double> seconds, int64_t chunks,
                                                               MayBeChunk mayBe) {
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
    for (int64_t end = chunk + 1; end <= units - (chunks - 1 - chunk); ++end)
      for (int64_t begin = chunk; begin < end; ++begin) {
        if (!best[begin].exists() || !mayBe(chunk, begin, end))
          continue;
        if (Load load = best[begin].add(before[end] - before[begin]); load < next[end]) {
          next[end] = load;
          from[chunk][end] = begin;
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
