//===- RecomputeLimit.cpp - how much may be saved under a limit of memory -------------------------------===//
#include "RecomputeLimit.h"
#include <limits>

using namespace mlir::par;

int64_t mlir::par::findRecomputeLimit(const CompileOptions &options, PlanPeak plan) {
  auto peakAt = [&](int64_t limit) {
    CompileOptions bounded = options;
    bounded.recomputeLimit = limit;
    return plan(bounded);
  };
  int64_t best = std::numeric_limits<int64_t>::max();
  std::optional<int64_t> peak = peakAt(best);
  if (!peak || *peak <= options.memoryLimit)
    return best;
  // What is saved is a part of the peak. A limit too low for any plan has none.
  int64_t low = 0, high = options.memoryLimit, least = *peak;
  bool fits = false;
  for (int step = 0; step < 10; ++step) {
    int64_t middle = low + (high - low) / 2;
    peak = peakAt(middle);
    bool fitsHere = peak && *peak <= options.memoryLimit;
    if (fitsHere || (!fits && peak && *peak < least)) {
      best = middle;
      least = *peak;
    }
    fits |= fitsHere;
    (!peak || fitsHere ? low : high) = middle;
  }
  return best;
}
