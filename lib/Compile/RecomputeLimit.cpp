//===- RecomputeLimit.cpp - how much may be saved under a limit of memory -------------------------------===//
#include "RecomputeLimit.h"
#include <limits>

using namespace mlir::par;

int64_t mlir::par::findRecomputeLimit(const Plan &plan, int64_t memoryLimit, PlanTrials &trials) {
  auto planAt = [&](int64_t limit) {
    Plan bounded = plan;
    bounded.recomputeLimit = limit;
    return trials.measure(bounded);
  };
  int64_t best = std::numeric_limits<int64_t>::max();
  std::optional<PlanSize> size = planAt(best);
  if (!size || size->peak <= memoryLimit)
    return best;
  // Between nothing and what is saved where nothing but cheap ops runs again, to a thousandth of that. A
  // limit too low for any plan has none.
  int64_t low = 0, high = size->saved, least = size->peak;
  bool fits = false;
  for (int step = 0; step < 10; ++step) {
    int64_t middle = low + (high - low) / 2;
    size = planAt(middle);
    bool fitsHere = size && size->peak <= memoryLimit;
    if (fitsHere || (!fits && size && size->peak < least)) {
      best = middle;
      least = size->peak;
    }
    fits |= fitsHere;
    (!size || fitsHere ? low : high) = middle;
  }
  return best;
}
