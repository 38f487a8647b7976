//===- PlanEstimate.cpp - time and memory of a plan from tables -----------------------------------------===//
#include "par/Planner/PlanEstimate.h"
#include "StageSum.h"
#include "par/Schedule/Timeline.h"

using namespace mlir::par;

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// With their messages, without updates.
static PipelineSchedule completeLists(PipelineSchedule schedule) {
  StepParts parts;
  parts.updates = false;
  return completeStep(std::move(schedule), parts);
}

/// More than so many micro-batches change nothing.
static int64_t limitMicroBatches(const Plan &plan) {
  return std::min(plan.microBatches, 4 * plan.countStages());
}

const PlanEstimator::Flights &PlanEstimator::countFlights(const Plan &plan) {
  int64_t stages = plan.countStages(), microBatches = limitMicroBatches(plan);
  return flights.get({plan.schedule, stages, microBatches, plan.chunks}, [&](Flights &counts) {
    auto schedule = buildSchedule(getName(plan.schedule), {stages, microBatches, plan.chunks});
    if (!schedule)
      return llvm::consumeError(schedule.takeError());
    counts.stageOf = schedule->stageOfChunk;
    for (const std::vector<Action> &list : schedule->stages) {
      counts.places.push_back(listPlaces(list));
      counts.heldOfAll.push_back(countHeldOfAll(counts.places.back()));
    }
  });
}

const PlanEstimator::Places &PlanEstimator::countMessages(const Plan &plan) {
  int64_t microBatches = limitMicroBatches(plan);
  return messages.get({plan.schedule, plan.countStages(), microBatches, plan.chunks}, [&](Places &places) {
    for (const std::vector<Action> &list : getLists(plan, microBatches).stages)
      places.push_back(listPlaces(list));
  });
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Seconds in which the ranks of stages that share cores compute all micro-batches, if no core ever waits.
static double shareWork(llvm::ArrayRef<StageSum> stages, const Plan &plan) {
  double work = 0;
  for (const StageSum &stage : stages)
    work += static_cast<double>(plan.microBatches) * (stage.forward + stage.backward + stage.weight);
  return work / static_cast<double>(stages.size());
}

/// Of ranks that share cores those that wait leave them to others (Cluster.h): seconds for each that a stage
/// takes by its part of the device, when it is alone.
static double getPace(llvm::ArrayRef<StageSum> stages, const Cluster &cluster) {
  return stages.size() > 1 ? 1 / cluster.oversubscription : 1;
}

/// A stage begins when the first micro-batch has passed those before it, and these end when the last one has
/// come back from it: of several chunks of a stage, those of others fill the rest of what it waits. With one
/// chunk, and a backward pass of one part, a stage waits for what a neighbour sends it.
static double sumStep(llvm::ArrayRef<StageSum> stages, const Plan &plan, const Cluster &cluster) {
  auto microBatches = static_cast<double>(plan.microBatches), chunks = static_cast<double>(plan.chunks);
  double begin = 0, drain = 0, longest = shareWork(stages, plan), update = 0;
  double pace = getPace(stages, cluster);
  for (const StageSum &stage : stages) {
    double transfers = plan.chunks == 1 && !splitsBackward(plan.schedule) ? stage.transfers : 0;
    double there = pace * microBatches * (stage.forward + transfers);
    double back = pace * (microBatches * (stage.backward + transfers) + stage.last);
    longest = std::max({longest, begin + there + back + drain + stages.front().reduction,
                        begin + there + back + pace * microBatches * stage.weight + stage.reduction});
    update = std::max(update, stage.update);
    begin += pace * stage.firstForward;
    drain += pace * (stage.firstBackward + stage.last / chunks);
  }
  return longest + update;
}

/// Seconds of the longest update. Wherever the model is cut, it is no shorter than the mean of all.
static double boundUpdate(llvm::ArrayRef<StageSum> stages, bool anyCuts) {
  double longest = 0, sum = 0;
  for (const StageSum &stage : stages) {
    longest = std::max(longest, stage.update);
    sum += stage.update;
  }
  return anyCuts ? sum / static_cast<double>(stages.size()) : longest;
}

/// No schedule takes less: a stage computes all micro-batches behind the first one's way there and, where the
/// parts of a backward pass are not told apart, before the last one's way back. `anyCuts`: the model may be
/// cut elsewhere.
static double boundStep(llvm::ArrayRef<StageSum> stages, const Plan &plan, const Cluster &cluster,
                        bool anyCuts) {
  auto microBatches = static_cast<double>(plan.microBatches);
  double begin = 0, drain = 0, longest = shareWork(stages, plan);
  double pace = getPace(stages, cluster);
  for (const StageSum &stage : stages) {
    double busy = pace * microBatches * (stage.forward + stage.backward + stage.weight);
    longest = std::max({longest, begin + busy + drain, begin + busy + stage.reduction});
    begin += pace * stage.firstForward;
    if (!splitsBackward(plan.schedule))
      drain += pace * stage.firstBackward;
  }
  return longest + boundUpdate(stages, anyCuts);
}

std::vector<StageSum> PlanEstimator::sumStages(const Plan &plan, const ModelDivision &division) {
  double part = 1 / static_cast<double>(plan.countRanks(AxisRole::State));
  std::vector<StageSum> stages(static_cast<size_t>(plan.countStages()), StageSum(part));
  const std::vector<int64_t> &stageOf = countFlights(plan).stageOf;
  std::vector<StageVariables> variables(stages.size());
  StageSum one(part);
  for (size_t at = 0; at < stageOf.size(); ++at) {
    auto stage = static_cast<size_t>(stageOf[at]);
    if (!division.chunks.isLikeLast(at)) {
      const ChunkTable &chunk = division.chunks[at];
      one = StageSum(part);
      one.add(chunk, variables[stage].add(chunk.own, chunk.shared), /*isFirst=*/at == 0, plan, cluster);
    }
    stages[stage].join(one);
  }
  return stages;
}

PlanEstimate PlanEstimator::weigh(const Plan &plan, const std::vector<UnitTable> &kinds, Weighing how) {
  bool anyGroup = how == Weighing::BoundOfGroups;
  const ModelDivision &division = divisions.get(plan, tables.getUnits(plan), kinds, anyGroup);
  const Places &places = how == Weighing::Estimate ? countMessages(plan) : countFlights(plan).places;
  std::vector<StageSum> stages = sumStages(plan, division);
  PlanEstimate result;
  if (how == Weighing::Estimate)
    result.cuts = division.cuts;
  bool anyCuts = how != Weighing::Estimate && plan.cuts.empty() && stages.size() > 1;
  result.leastSeconds = boundStep(stages, plan, cluster, anyCuts);
  result.seconds = how == Weighing::Estimate ? sumStep(stages, plan, cluster) : result.leastSeconds;
  weighMemory(division, places, stages, result);
  if (anyCuts)
    boundAnyCuts(plan, division, stages, result);
  return result;
}

void PlanEstimator::weighMemory(const ModelDivision &division, const Places &places,
                                llvm::ArrayRef<StageSum> stages, PlanEstimate &result) const {
  for (size_t stage = 0; stage < stages.size(); ++stage) {
    std::vector<double> whole;
    for (auto [input, weight] : stages[stage].whole)
      whole.push_back(std::max(input + stages[stage].gatheredOnce, weight));
    const StageSum &sum = stages[stage];
    result.hostBytes = std::max(result.hostBytes, sum.offloaded);
    double most = boundMostBytes(places[stage], division.chunks, whole);
    if (sum.state + std::max(most, sum.staged) <= result.bytes)
      continue;
    double held = findMostBytes(places[stage], division.chunks, whole);
    double bytes = sum.state + std::max(held, sum.staged);
    if (bytes > result.bytes) {
      result.bytes = bytes;
      result.fullestStage = static_cast<int64_t>(stage);
    }
  }
}

/// The lists of a plan's schedule with their messages. Empty where there is no such schedule.
const PipelineSchedule &PlanEstimator::getLists(const Plan &plan, int64_t microBatches) {
  int64_t stages = plan.countStages();
  return lists.get({plan.schedule, stages, microBatches, plan.chunks}, [&](PipelineSchedule &schedule) {
    auto built = buildSchedule(getName(plan.schedule), {stages, microBatches, plan.chunks});
    if (built)
      schedule = completeLists(std::move(*built));
    else
      llvm::consumeError(built.takeError());
  });
}

/// By stage: seconds until its last action.
std::vector<double> PlanEstimator::replay(const Plan &plan, int64_t microBatches, const StepTimes &times) {
  const PipelineSchedule &schedule = getLists(plan, microBatches);
  llvm::Expected<Timeline> timeline = replaySchedule(schedule, times);
  std::vector<double> ends(schedule.stages.size());
  if (!timeline) {
    llvm::consumeError(timeline.takeError());
    return ends;
  }
  if (cluster.oversubscription > 1 && schedule.stages.size() > 1)
    shareCores(*timeline, cluster.oversubscription);
  for (auto [end, actions] : llvm::zip(ends, timeline->stages))
    for (const TimedAction &timed : actions)
      end = std::max(end, timed.end);
  return ends;
}

double PlanEstimator::simulate(const Plan &plan) {
  const std::vector<UnitTable> *kinds = tables.getExact(plan);
  if (!kinds)
    return 0;
  const ModelDivision &division = divisions.get(plan, tables.getUnits(plan), *kinds);
  StepTimes times;
  times.chunks.clear();
  double pace = plan.countStages() > 1 ? 1 / cluster.oversubscription : 1;
  for (size_t chunk = 0; chunk < division.chunks.size(); ++chunk) {
    ActionTimes &own = times.chunks.emplace_back(getTimes(division.chunks[chunk], plan, cluster.concurrency));
    own = {pace * own.forward, pace * own.backwardInput, pace * own.backwardWeight, own.transfer};
  }
  // Once all stages are busy, each further micro-batch takes as long as the one before.
  int64_t stages = plan.countStages(), most = std::min(plan.microBatches, 4 * stages), fewer = 3 * stages;
  std::vector<double> ends = replay(plan, most, times);
  if (plan.microBatches > most) {
    std::vector<double> before = replay(plan, fewer, times);
    for (auto [end, earlier] : llvm::zip(ends, before))
      end +=
          (end - earlier) * static_cast<double>(plan.microBatches - most) / static_cast<double>(most - fewer);
  }
  std::vector<StageSum> sums = sumStages(plan, division);
  double longest = 0, update = 0;
  for (auto [sum, end] : llvm::zip(sums, ends)) {
    longest = std::max(longest, end + sum.last + sum.reduction);
    update = std::max(update, sum.update);
  }
  return longest + update;
}

std::optional<PlanEstimate> PlanEstimator::estimate(const Plan &plan) {
  const std::vector<UnitTable> *kinds = tables.get(plan);
  return kinds ? std::optional(weigh(plan, *kinds, Weighing::Estimate)) : std::nullopt;
}

std::optional<PlanEstimate> PlanEstimator::bound(const Plan &plan) {
  const std::vector<UnitTable> *kinds = tables.getLeast(plan, /*anyRecompute=*/false);
  return kinds ? std::optional(weigh(plan, *kinds, Weighing::Bound)) : std::nullopt;
}

std::optional<PlanEstimate> PlanEstimator::boundFamily(const Plan &plan, bool anyGroup) {
  const std::vector<UnitTable> *kinds = tables.getLeast(plan, /*anyRecompute=*/true);
  return kinds ? std::optional(weigh(plan, *kinds, anyGroup ? Weighing::BoundOfGroups : Weighing::Bound))
               : std::nullopt;
}
