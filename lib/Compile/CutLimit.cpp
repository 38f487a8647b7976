//===- CutLimit.cpp - cuts of a pipeline under a limit of memory ----------------------------------------===//
#include "CutLimit.h"
#include "par/Cost/StageCuts.h"
#include "par/Schedule/Schedule.h"

#include <set>

using namespace mlir::par;

namespace {
using Cuts = std::vector<int64_t>;

/// Guesses what chunks take from what they took: state in proportion to their parameters, what is saved to
/// what they compute, each by what the stage measured. Exact plans correct the guess until one fits.
class Search {
public:
  Search(const Plan &plan, int64_t memoryLimit, std::vector<UnitCost> units, std::vector<int64_t> stageOf,
         PlanTrials &trials)
      : plan(plan), memoryLimit(memoryLimit), units(std::move(units)), stageOf(std::move(stageOf)),
        trials(trials) {
    for (const UnitCost &unit : this->units)
      seconds.push_back(unit.seconds);
  }

  Cuts run() {
    constexpr int most = 8; // plans that are compiled
    Cuts cuts = chooseStageCuts(seconds, countChunks());
    std::set<Cuts> tried;
    for (int step = 0; step < most && tried.insert(cuts).second; ++step) {
      Plan other = plan;
      if (step > 0) // those without a limit are the plan's own
        other.cuts = cuts;
      std::optional<PlanSize> size = trials.measure(other);
      if (!size)
        return {};
      if (size->getPeak() <= memoryLimit)
        return other.cuts;
      learn(cuts, *size);
      std::optional<Cuts> next = choose();
      if (!next)
        return {};
      cuts = *next;
    }
    return {};
  }

private:
  int64_t countChunks() const { return static_cast<int64_t>(stageOf.size()); }

  struct Sums {
    double parameters = 1, saved = 1; ///< so that a stage without any has a finite rate
  };
  Sums sum(int64_t begin, int64_t end) const {
    Sums sums;
    for (int64_t unit = begin; unit < end; ++unit) {
      sums.parameters += static_cast<double>(units[static_cast<size_t>(unit)].parameterBytes);
      sums.saved += static_cast<double>(units[static_cast<size_t>(unit)].savedBytes);
    }
    return sums;
  }

  /// Bytes of a stage per byte of parameters, and per byte that a micro-batch may save.
  struct Rates {
    double state = 0, saved = 0;
    double limit = 0; ///< of each of its chunks
  };

  void learn(const Cuts &cuts, const PlanSize &size) {
    std::vector<Sums> sums(size.stages.size());
    std::vector<int64_t> chunks(size.stages.size());
    for (int64_t chunk = 0; chunk < countChunks(); ++chunk) {
      auto stage = static_cast<size_t>(stageOf[static_cast<size_t>(chunk)]);
      Sums own = sum(chunk ? cuts[static_cast<size_t>(chunk) - 1] : 0,
                     chunk + 1 < countChunks() ? cuts[static_cast<size_t>(chunk)]
                                               : static_cast<int64_t>(units.size()));
      sums[stage].parameters += own.parameters;
      sums[stage].saved += own.saved;
      ++chunks[stage];
    }
    rates.clear();
    for (auto [stage, known] : llvm::enumerate(size.stages))
      rates.push_back({static_cast<double>(known.peak - known.saved) / sums[stage].parameters,
                       static_cast<double>(known.saved) / sums[stage].saved,
                       static_cast<double>(memoryLimit) / static_cast<double>(chunks[stage])});
  }

  std::optional<Cuts> choose() const {
    return chooseStageCuts(seconds, countChunks(), [&](int64_t chunk, int64_t begin, int64_t end) {
      const Rates &rate = rates[static_cast<size_t>(stageOf[static_cast<size_t>(chunk)])];
      Sums sums = sum(begin, end);
      return rate.state * sums.parameters + rate.saved * sums.saved <= rate.limit;
    });
  }

  const Plan &plan;
  int64_t memoryLimit;
  std::vector<UnitCost> units;
  std::vector<int64_t> stageOf; ///< by chunk
  PlanTrials &trials;
  std::vector<double> seconds; ///< by unit
  std::vector<Rates> rates;    ///< by stage
};
} // namespace

Cuts mlir::par::findFittingCuts(const Plan &plan, int64_t memoryLimit, PlanTrials &trials) {
  llvm::Expected<std::vector<int64_t>> stageOf =
      placeChunksOf(getName(plan.schedule), {plan.countStages(), plan.microBatches, plan.chunks});
  if (!stageOf) {
    llvm::consumeError(stageOf.takeError());
    return {};
  }
  std::vector<UnitCost> units = trials.measureUnits(plan);
  if (units.size() < stageOf->size())
    return {};
  return Search(plan, memoryLimit, std::move(units), std::move(*stageOf), trials).run();
}
