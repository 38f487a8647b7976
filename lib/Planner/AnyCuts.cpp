//===- AnyCuts.cpp - what a plan needs wherever it is cut -----------------------------------------------===//
#include "StageSum.h"
#include "par/Planner/PlanEstimate.h"

using namespace mlir::par;

/// Cuts depend on what units take of a micro-batch's rows, which tables of many rows only come near. Of
/// chunks of so many units or more, other rows take one unit away at most (test/Unit/Planner/BoundsTest.cpp).
static constexpr int64_t kManyUnits = 4;

namespace {
struct Bytes {
  double device = 0, host = 0;

  void raise(Bytes other) {
    device = std::max(device, other.device);
    host = std::max(host, other.host);
  }
};
} // namespace

static Bytes store(const StateTable &variables, const Plan &plan) {
  StageSum sum(1 / static_cast<double>(plan.countRanks(AxisRole::State)));
  sum.addStored(variables, plan);
  return {sum.state, sum.offloaded};
}

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
static Bytes findMean(const Plan &plan, const ChunkTables &chunks, llvm::ArrayRef<int32_t> held) {
  StateTable all;
  StageVariables variables;
  double saved = 0;
  for (size_t at = 0; at < chunks.size(); ++at) {
    all.add(variables.add(chunks[at].own, chunks[at].shared));
    saved += chunks[at].saved;
  }
  Bytes stored = store(all, plan);
  return {findMean(stored.device, saved, held), stored.host / static_cast<double>(plan.countStages())};
}

void PlanEstimator::boundAnyCuts(const Plan &plan, const ModelDivision &division,
                                 llvm::ArrayRef<StageSum> stages, PlanEstimate &result) {
  const Flights &flown = countFlights(plan);
  const ChunkTables &chunks = division.chunks;
  Bytes most = findMean(plan, chunks, flown.heldOfAll);
  bool areLarge = true;
  for (size_t at = 0; at < chunks.size(); ++at) {
    most.raise(store(chunks[at].largest, plan));
    areLarge &= chunks[at].units >= kManyUnits;
  }
  for (size_t stage = 0; areLarge && stage < stages.size(); ++stage) {
    PlanEstimate own;
    weighMemory(division, {flown.places[stage]}, stages.slice(stage, 1), own);
    for (const ChunkPlaces &held : flown.places[stage].ceiling) {
      const ChunkTable &chunk = chunks[static_cast<size_t>(held.chunk)];
      Bytes moved = store(chunk.moved, plan);
      own.bytes -= moved.device + held.saved * chunk.savedMoved;
      own.hostBytes -= moved.host;
    }
    most.raise({own.bytes, own.hostBytes});
  }
  result.bytes = std::min(result.bytes, most.device);
  result.hostBytes = std::min(result.hostBytes, most.host);
}
