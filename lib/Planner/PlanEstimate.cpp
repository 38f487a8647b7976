//===- PlanEstimate.cpp - time and memory of a plan from tables -----------------------------------------===//
#include "par/Planner/PlanEstimate.h"
#include "par/Cost/CollectiveTimes.h"
#include "par/Schedule/Schedule.h"
#include "par/Sharding/MeshAxes.h"

using namespace mlir::par;

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// By chunk: micro-batches between an action of one kind and of another, at most. A whole backward pass ends
/// both.
static std::vector<double> countBetween(const PipelineSchedule &schedule, ActionKind begin, ActionKind end) {
  std::vector<double> most(static_cast<size_t>(schedule.getNumChunks()));
  for (const std::vector<Action> &list : schedule.stages) {
    std::vector<double> live(most.size());
    for (const Action &action : list) {
      auto chunk = static_cast<size_t>(action.chunk);
      bool isWhole = action.kind == ActionKind::Backward && begin == ActionKind::Forward;
      if (action.kind == begin)
        most[chunk] = std::max(most[chunk], ++live[chunk]);
      else if (action.kind == end || isWhole)
        --live[chunk];
    }
  }
  return most;
}

/// More than four micro-batches for each stage change nothing.
const PlanEstimator::Flights &PlanEstimator::countFlights(const Plan &plan) {
  int64_t stages = plan.countStages(), microBatches = std::min(plan.microBatches, 4 * stages);
  auto [entry, isNew] = flights.try_emplace({plan.schedule, stages, microBatches, plan.chunks});
  Flights &counts = entry->second;
  if (!isNew)
    return counts;
  auto schedule = buildSchedule(getName(plan.schedule), {stages, microBatches, plan.chunks});
  if (!schedule) {
    llvm::consumeError(schedule.takeError());
    return counts;
  }
  counts.stageOf = schedule->stageOfChunk;
  counts.saved = countBetween(*schedule, ActionKind::Forward, ActionKind::BackwardInput);
  counts.savedForWeight = countBetween(*schedule, ActionKind::Forward, ActionKind::BackwardWeight);
  counts.handed = countBetween(*schedule, ActionKind::BackwardInput, ActionKind::BackwardWeight);
  return counts;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

namespace {
/// One stage over a step.
class StageSum {
public:
  /// `isFirst`: of the model.
  void add(const ChunkTable &chunk, bool isFirst, const Plan &plan, const Cluster &cluster);

  /// Seconds of a micro-batch: to the next stage, back to the one before, and what no stage waits for.
  double forward = 0, backward = 0, weight = 0;
  double last = 0;             ///< seconds that the last micro-batch's backward pass takes longer
  double reduction = 0;        ///< seconds behind all micro-batches
  double update = 0;           ///< seconds behind the reductions of all stages
  double state = 0, whole = 0; ///< bytes
  double saved = 0;            ///< bytes

private:
  void addComputing(const ChunkTable &chunk, const Plan &plan);
  void addState(const ChunkTable &chunk, const Plan &plan);
  void addWhole(const ChunkTable &chunk, const Plan &plan);
  void addCollectives(const ChunkTable &chunk, bool isFirst, const Plan &plan,
                      const ConcurrencyModel &concurrency);
  void addOffload(const ChunkTable &chunk, const Plan &plan, const Cluster &cluster);
};
} // namespace

static bool gathersAgain(const Plan &plan) {
  return plan.zero == 3 && plan.zero3Gather == GatherTime::PerMicroBatch;
}
/// Of state that ZeRO divides.
static double getPart(const Plan &plan) { return 1 / static_cast<double>(countStateRanks(plan.mesh)); }

void StageSum::addComputing(const ChunkTable &chunk, const Plan &plan) {
  forward += chunk.forward + chunk.transfer;
  backward += chunk.backwardInput + chunk.transfer;
  weight += chunk.backwardWeight;
  update += plan.zero ? chunk.update * getPart(plan) : chunk.update;
}

/// By stage of ZeRO (Rajbhandari et al., 1910.02054, section 3; docs/Formulas.md, "State").
void StageSum::addState(const ChunkTable &chunk, const Plan &plan) {
  double part = getPart(plan);
  double parameters = plan.zero < 3 ? chunk.parameters : chunk.parameters * part;
  double gradients = plan.zero < 2 ? chunk.gradients : chunk.gradients * part;
  if (plan.zero == 1)
    gradients += chunk.gradients * part;
  if (plan.zero == 3 && plan.zero3Gather == GatherTime::PerStep)
    parameters += chunk.parameters;
  state += parameters + gradients + (plan.zero ? chunk.optimizer * part : chunk.optimizer);
}

/// What lies whole for a while: parameters that are gathered and gradients that are still to be scattered, of
/// a unit, and beside overlap of the next one too.
void StageSum::addWhole(const ChunkTable &chunk, const Plan &plan) {
  double bytes = plan.zero >= 2 ? chunk.reduced : 0;
  if (gathersAgain(plan))
    bytes += chunk.gathered;
  whole = std::max(whole, chunk.workspace + (plan.overlap ? 2 * bytes : bytes));
}

/// Seconds that a chunk's collectives cost it. Functions wait for all that they start: beside overlap, that
/// of the first or last unit has nothing to run beside, and what runs beside others slows them down.
static double getShown(double collectives, double computing, int64_t units, const Plan &plan,
                       const ConcurrencyModel &concurrency) {
  if (!plan.overlap)
    return collectives;
  double begun = collectives / concurrency.communicateShare;
  double alone = 1 / static_cast<double>(units);
  double shown = std::max(begun * alone, begun - computing * (1 - alone));
  return shown + (begun - shown) * (1 - concurrency.computeShare);
}

/// By stage of ZeRO (the same, section 7).
void StageSum::addCollectives(const ChunkTable &chunk, bool isFirst, const Plan &plan,
                              const ConcurrencyModel &concurrency) {
  auto shown = [&](double collectives, double computing) {
    return getShown(collectives, computing, chunk.units, plan, concurrency);
  };
  double back = chunk.backwardInput + chunk.backwardWeight;
  double gather = gathersAgain(plan) ? chunk.gatherParameters : 0;
  double scatter = plan.zero >= 2 ? chunk.scatterGradients : 0;
  forward += shown(gather, chunk.forward);
  // Where a backward pass is split, its second part has the gradients of weights.
  bool isSplit = splitsBackward(plan.schedule);
  (isSplit ? weight : backward) += shown(gather + scatter, back);
  // Beside overlap the last backward function of a chunk that hands no gradient on reduces, too.
  if (plan.zero < 2) {
    double reduce = plan.zero ? chunk.scatterGradients : chunk.reduceGradients;
    (plan.overlap && isFirst && !isSplit ? last : reduction) +=
        isFirst || isSplit ? shown(reduce, back) : reduce;
  }
  if (plan.zero > 0 && !gathersAgain(plan))
    update += shown(chunk.gatherParameters, chunk.forward);
}

/// The optimizer's state comes from the host and goes back.
void StageSum::addOffload(const ChunkTable &chunk, const Plan &plan, const Cluster &cluster) {
  if (plan.offload == OffloadKind::None)
    return;
  double bytes = plan.zero ? chunk.optimizer * getPart(plan) : chunk.optimizer;
  state -= bytes;
  update += 2 * getCopySeconds(bytes, cluster);
}

void StageSum::add(const ChunkTable &chunk, bool isFirst, const Plan &plan, const Cluster &cluster) {
  addComputing(chunk, plan);
  addState(chunk, plan);
  addWhole(chunk, plan);
  addCollectives(chunk, isFirst, plan, cluster.concurrency);
  addOffload(chunk, plan, cluster);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Seconds for each that a stage takes by its part of the device, while so many stages compute. (Of ranks
/// that share cores those that wait leave them to others; Cluster.h.)
static double getPace(double active, const Plan &plan, const Cluster &cluster) {
  if (cluster.oversubscription <= 1 || plan.countStages() == 1)
    return 1;
  active = std::min(active, static_cast<double>(plan.microBatches * plan.chunks));
  return std::min(1.0,
                  std::max(1 / cluster.oversubscription, active / static_cast<double>(plan.countStages())));
}

/// A stage begins when the first micro-batch has passed those before it, and these end when the last one has
/// come back from it: of several chunks of a stage, those of others fill the rest of what it waits.
static double sumStep(llvm::ArrayRef<StageSum> stages, const Plan &plan, const Cluster &cluster) {
  auto microBatches = static_cast<double>(plan.microBatches), chunks = static_cast<double>(plan.chunks);
  double begin = 0, drain = 0, longest = 0, update = 0, before = 0;
  double all = getPace(static_cast<double>(stages.size()), plan, cluster);
  for (const StageSum &stage : stages) {
    double there = microBatches * stage.forward, back = microBatches * stage.backward + stage.last;
    longest = std::max({longest, begin + all * (there + back) + drain + stages.front().reduction,
                        begin + all * (there + back + microBatches * stage.weight) + stage.reduction});
    update = std::max(update, stage.update);
    double pace = getPace(++before, plan, cluster);
    begin += pace * stage.forward / chunks;
    drain += pace * (stage.backward + stage.last) / chunks;
  }
  return longest + update;
}

PlanEstimate PlanEstimator::weigh(const Plan &plan, const std::vector<UnitTable> &kinds) {
  const ModelDivision &division = divisions.get(plan, tables.getKinds(plan), kinds);
  const Flights &held = countFlights(plan);
  std::vector<StageSum> stages(static_cast<size_t>(plan.countStages()));
  for (auto [chunk, number, saved, savedForWeight, handed] :
       llvm::zip(division.chunks, held.stageOf, held.saved, held.savedForWeight, held.handed)) {
    StageSum &stage = stages[static_cast<size_t>(number)];
    stage.add(chunk, &chunk == &division.chunks.front(), plan, cluster);
    stage.saved += saved * chunk.saved + savedForWeight * chunk.savedForWeight + handed * chunk.handed;
  }
  PlanEstimate result;
  result.cuts = division.cuts;
  result.seconds = sumStep(stages, plan, cluster);
  for (size_t stage = 0; stage < stages.size(); ++stage)
    if (double bytes = stages[stage].state + stages[stage].saved + stages[stage].whole;
        bytes > result.bytes) {
      result.bytes = bytes;
      result.fullestStage = static_cast<int64_t>(stage);
    }
  return result;
}

std::optional<PlanEstimate> PlanEstimator::estimate(const Plan &plan) {
  const std::vector<UnitTable> *kinds = tables.get(plan);
  return kinds ? std::optional(weigh(plan, *kinds)) : std::nullopt;
}

std::optional<PlanEstimate> PlanEstimator::bound(const Plan &plan) {
  const std::vector<UnitTable> *kinds = tables.getLeast(plan);
  return kinds ? std::optional(weigh(plan, *kinds)) : std::nullopt;
}
