//===- AnyCuts.cpp - what a plan needs wherever it is cut -----------------------------------------------===//
#include "StageSum.h"
#include "par/Planner/PlanEstimate.h"

using namespace mlir::par;

/// Cuts depend on what units take of a micro-batch's rows, which tables of many rows only come near. Of
/// chunks of so many units or more, other rows take one unit away at most (test/Unit/Planner/BoundsTest.cpp).
static constexpr int64_t kManyUnits = 4;

/// The stage that needs most needs no less than a mean of all, with any weights. Of what a unit stores and
/// saves, each is taken to be where it weighs least: `held` times by stage. These weights are right where
/// stages of which more is held have fewer units.
static double findMean(double stored, double saved, llvm::ArrayRef<int32_t> held) {
  double sum = 0, leastStored = std::numeric_limits<double>::infinity(), leastSaved = leastStored;
  for (int32_t times : held) {
    double weight = 1 / std::max(stored + times * saved, 1.0);
    sum += weight;
    leastStored = std::min(leastStored, weight * stored);
    leastSaved = std::min(leastSaved, weight * times * saved);
  }
  double alike = stored + *llvm::min_element(held) * saved;
  return std::max((leastStored + leastSaved) / sum, alike / static_cast<double>(held.size()));
}

/// A variable of several stages counts once.
static StateBytes findMean(const DividedChunks &chunks, llvm::ArrayRef<int32_t> held) {
  StateBytes all;
  StageVariables variables;
  double saved = 0;
  auto add = [&](const StateTable &state) {
    all.device += state.device;
    all.host += state.host;
  };
  for (size_t at = 0; at < chunks.tables.size(); ++at) {
    add(chunks.states[at].own);
    for (const SharedState &variable : chunks.states[at].shared)
      if (variables.takes(variable))
        add(variable.state);
    saved += chunks.tables[at].saved;
  }
  return {findMean(all.device, saved, held), all.host / static_cast<double>(held.size())};
}

void PlanEstimator::boundAnyCuts(const Flights &flown, const DividedChunks &chunks,
                                 llvm::ArrayRef<StageSum> stages, PlanEstimate &result) const {
  StateBytes most = findMean(chunks, flown.heldOfAll);
  bool areLarge = true;
  for (size_t at = 0; at < chunks.tables.size(); ++at) {
    most.raise(chunks.states[at].largest);
    areLarge &= chunks.tables[at].units >= kManyUnits;
  }
  for (size_t stage = 0; areLarge && stage < stages.size(); ++stage) {
    PlanEstimate own;
    weighMemory(chunks.tables, llvm::ArrayRef(flown.places).slice(stage, 1), stages.slice(stage, 1), own);
    for (const ChunkPlaces &held : flown.places[stage].ceiling) {
      auto at = static_cast<size_t>(held.chunk);
      own.bytes -= chunks.states[at].moved.device + held.saved * chunks.tables[at].savedMoved;
      own.hostBytes -= chunks.states[at].moved.host;
    }
    most.raise({own.bytes, own.hostBytes});
  }
  result.bytes = std::min(result.bytes, most.device);
  result.hostBytes = std::min(result.hostBytes, most.host);
}
