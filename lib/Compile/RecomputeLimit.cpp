//===- RecomputeLimit.cpp - how much may be saved under a limit of memory -------------------------------===//
#include "par/Compile/PlanFit.h"
#include <limits>

using namespace mlir::par;

namespace {
/// A bisection between nothing and what a stage saves without a limit.
struct Search {
  int64_t low = 0, high = 0;
  int64_t best, least; ///< limit and peak of the best that was seen
  bool fits;

  Search(StageSize unlimited, int64_t memoryLimit)
      : high(unlimited.saved), best(std::numeric_limits<int64_t>::max()), least(unlimited.peak),
        fits(unlimited.peak <= memoryLimit), isDone(fits) {}

  int64_t next() const { return isDone ? best : low + (high - low) / 2; }

  /// `peak`: with `next()`. A limit too low for any plan has none.
  void learn(std::optional<int64_t> peak, int64_t memoryLimit) {
    if (isDone)
      return;
    int64_t middle = next();
    bool fitsHere = peak && *peak <= memoryLimit;
    if (fitsHere || (!fits && peak && *peak < least)) {
      best = middle;
      least = *peak;
    }
    fits |= fitsHere;
    (!peak || fitsHere ? low : high) = middle;
  }

private:
  bool isDone; ///< it fits without a limit
};
} // namespace

StageNumbers PlanFit::findRecomputeLimit() const {
  auto planAt = [&](StageNumbers limits) {
    Plan bounded = plan;
    bounded.recomputeLimit = std::move(limits);
    return measure(bounded);
  };
  StageNumbers unlimited = {std::numeric_limits<int64_t>::max()};
  std::optional<PlanSize> size = planAt(unlimited);
  if (!size || size->getPeak() <= limit)
    return unlimited;
  std::vector<Search> searches;
  for (const StageSize &stage : size->stages)
    searches.emplace_back(stage, limit);
  auto list = [&](auto get) {
    StageNumbers numbers;
    for (const Search &search : searches)
      numbers.push_back(get(search));
    return numbers;
  };
  // To a thousandth. Stages are sought together: none needs another amount for what others save.
  for (int step = 0; step < 10; ++step) {
    StageNumbers next = list([](const Search &search) { return search.next(); });
    size = planAt(next);
    for (size_t stage = 0; stage < searches.size(); ++stage) {
      std::optional<PlanSize> own = size;
      if (!own && searches.size() > 1) {
        // A limit of some stage is too low: of which one is seen where no other has one.
        StageNumbers alone(searches.size(), unlimited.front());
        alone[stage] = next[stage];
        own = planAt(alone);
      }
      searches[stage].learn(own ? std::optional(own->stages[stage].peak) : std::nullopt, limit);
    }
  }
  return list([](const Search &search) { return search.best; });
}
