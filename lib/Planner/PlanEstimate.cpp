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
static int64_t limitMicroBatches(const PipelineShape &shape) {
  return std::min(shape.microBatches, 4 * shape.stages);
}

const PlanEstimator::Flights &PlanEstimator::countFlights(const Step &step) {
  int64_t stages = step.shape.stages, microBatches = limitMicroBatches(step.shape);
  return flights.get({step.schedule, stages, microBatches, step.shape.chunksPerStage}, [&](Flights &counts) {
    auto schedule = buildSchedule(getName(step.schedule), {stages, microBatches, step.shape.chunksPerStage});
    if (!schedule)
      return llvm::consumeError(schedule.takeError());
    counts.stageOf = schedule->stageOfChunk;
    int64_t parts = 0, chunks = schedule->getNumChunks();
    for (auto [stage, list] : llvm::enumerate(schedule->stages)) {
      for (const Action &action : list) {
        parts += action.kind == ActionKind::BackwardWeight;
        counts.hasWhole |= action.kind == ActionKind::Backward;
      }
      counts.places.push_back(listPlaces(*schedule, stage));
      counts.heldOfAll.push_back(countHeldOfAll(counts.places.back()));
    }
    counts.parted = (parts + chunks - 1) / chunks;
  });
}

const PlanEstimator::Places &PlanEstimator::countMessages(const Step &step) {
  int64_t microBatches = limitMicroBatches(step.shape);
  return messages.get({step.schedule, step.shape.stages, microBatches, step.shape.chunksPerStage},
                      [&](Places &places) {
                        const PipelineSchedule &schedule = getLists(step, microBatches);
                        for (size_t stage = 0; stage < schedule.stages.size(); ++stage)
                          places.push_back(listPlaces(schedule, stage));
                      });
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Seconds in which the ranks of stages that share cores compute all micro-batches, if no core ever waits.
static double shareWork(llvm::ArrayRef<StageSum> stages, double microBatches) {
  double work = 0;
  for (const StageSum &stage : stages)
    work += microBatches * (stage.forward + stage.backward + stage.weight);
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
static double sumStep(llvm::ArrayRef<StageSum> stages, const PipelineShape &shape, bool splitsBackward,
                      const Cluster &cluster) {
  auto microBatches = static_cast<double>(shape.microBatches),
       chunks = static_cast<double>(shape.chunksPerStage);
  double begin = 0, drain = 0, longest = shareWork(stages, microBatches), update = 0;
  double pace = getPace(stages, cluster);
  for (const StageSum &stage : stages) {
    double transfers = shape.chunksPerStage == 1 && !splitsBackward ? stage.transfers : 0;
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
static double boundStep(llvm::ArrayRef<StageSum> stages, double microBatches, bool splitsBackward,
                        const Cluster &cluster, bool anyCuts) {
  double begin = 0, drain = 0, longest = shareWork(stages, microBatches);
  double pace = getPace(stages, cluster);
  for (const StageSum &stage : stages) {
    double busy = pace * microBatches * (stage.forward + stage.backward + stage.weight);
    longest = std::max({longest, begin + busy + drain, begin + busy + stage.reduction});
    begin += pace * stage.firstForward;
    if (!splitsBackward)
      drain += pace * stage.firstBackward;
  }
  return longest + boundUpdate(stages, anyCuts);
}

ChunkSummer PlanEstimator::getSummer(const Step &step, const Flights &flown, const StateRows &rows) const {
  return {rows, cluster.concurrency, flown.getWholeShare(step.shape.microBatches)};
}

std::vector<StageSum> PlanEstimator::sumStages(const Flights &flown, int64_t stageCount,
                                               const DividedChunks &chunks, const ChunkSummer &summer) const {
  std::vector<StageSum> stages(static_cast<size_t>(stageCount));
  std::vector<StageVariables> variables(stages.size());
  StageSum one;
  for (size_t at = 0; at < flown.stageOf.size(); ++at) {
    auto stage = static_cast<size_t>(flown.stageOf[at]);
    if (!chunks.tables.isLikeLast(at) || !chunks.states.isLikeLast(at)) {
      const ChunkState &stored = chunks.states[at];
      one = StageSum();
      if (stored.shared.empty())
        one.add(chunks.tables[at], stored, stored.own, /*isFirst=*/at == 0, summer);
      else
        one.add(chunks.tables[at], stored, variables[stage].add(stored.own, stored.shared),
                /*isFirst=*/at == 0, summer);
    }
    stages[stage].join(one);
  }
  return stages;
}

PlanEstimate PlanEstimator::weigh(const Step &step, const DividedModel &model, Weighing how) {
  bool anyGroup = how == Weighing::BoundOfGroups;
  const Flights &flown = countFlights(step);
  const ModelDivision &division = divisions.get(model, step.ranks, step.shape.getNumChunks(), step.cuts);
  DividedChunks chunks{division.chunks, divisions.getStates(model, step.ranks, division, anyGroup)};
  const Places &places = how == Weighing::Estimate ? countMessages(step) : flown.places;
  std::vector<StageSum> stages =
      sumStages(flown, step.shape.stages, chunks, getSummer(step, flown, model.rows));
  PlanEstimate result;
  if (how == Weighing::Estimate)
    result.cuts = division.cuts;
  bool anyCuts = how != Weighing::Estimate && step.cuts.empty() && stages.size() > 1;
  auto microBatches = static_cast<double>(step.shape.microBatches);
  result.leastSeconds = boundStep(stages, microBatches, flown.splitsBackward(), cluster, anyCuts);
  result.seconds = how == Weighing::Estimate ? sumStep(stages, step.shape, flown.splitsBackward(), cluster)
                                             : result.leastSeconds;
  weighMemory(chunks.tables, places, stages, result);
  if (anyCuts)
    boundAnyCuts(flown, chunks, stages, result);
  return result;
}

void PlanEstimator::weighMemory(const ChunkTables &chunks, llvm::ArrayRef<StageMoments> places,
                                llvm::ArrayRef<StageSum> stages, PlanEstimate &result) const {
  for (size_t stage = 0; stage < stages.size(); ++stage) {
    llvm::SmallVector<double, 8> whole;
    for (auto [input, weight] : stages[stage].whole)
      whole.push_back(std::max(input + stages[stage].gatheredOnce, weight));
    const StageSum &sum = stages[stage];
    result.hostBytes = std::max(result.hostBytes, sum.offloaded);
    double most = boundMostBytes(places[stage], chunks, whole);
    if (sum.state + std::max(most, sum.staged) <= result.bytes)
      continue;
    double held = findMostBytes(places[stage], chunks, whole);
    double bytes = sum.state + std::max(held, sum.staged);
    if (bytes > result.bytes) {
      result.bytes = bytes;
      result.fullestStage = static_cast<int64_t>(stage);
    }
  }
}

/// The lists of a schedule with their messages. Empty where there is no such schedule.
const PipelineSchedule &PlanEstimator::getLists(const Step &step, int64_t microBatches) {
  PipelineShape shape = step.shape;
  shape.microBatches = microBatches;
  return lists.get({step.schedule, shape.stages, microBatches, shape.chunksPerStage},
                   [&](PipelineSchedule &schedule) {
                     auto built = buildSchedule(getName(step.schedule), shape);
                     if (built)
                       schedule = completeLists(std::move(*built));
                     else
                       llvm::consumeError(built.takeError());
                   });
}

/// By stage: seconds until its last action.
std::vector<double> PlanEstimator::replay(const Step &step, int64_t microBatches, const StepTimes &times) {
  const PipelineSchedule &schedule = getLists(step, microBatches);
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

/// By stage, of all micro-batches. Once all stages are busy, each further one takes as long as the one
/// before.
std::vector<double> PlanEstimator::replaySteps(const Step &step, const DividedChunks &chunks,
                                               const ChunkSummer &summer) {
  StepTimes times;
  times.chunks.clear();
  double pace = step.shape.stages > 1 ? 1 / cluster.oversubscription : 1;
  for (size_t chunk = 0; chunk < chunks.tables.size(); ++chunk) {
    ActionTimes &own = times.chunks.emplace_back(summer.getTimes(chunks.tables[chunk], chunks.states[chunk]));
    own = {pace * own.forward, pace * own.backwardInput, pace * own.backwardWeight, own.transfer,
           pace * own.joined};
  }
  int64_t all = step.shape.microBatches, most = limitMicroBatches(step.shape), fewer = 3 * step.shape.stages;
  std::vector<double> ends = replay(step, most, times);
  if (all > most)
    for (auto [end, earlier] : llvm::zip(ends, replay(step, fewer, times)))
      end += (end - earlier) * static_cast<double>(all - most) / static_cast<double>(most - fewer);
  return ends;
}

double PlanEstimator::simulate(const Plan &plan) {
  const std::vector<UnitTable> *kinds = tables.getExact(plan);
  const StateRows *rows = tables.getRows(plan);
  if (!kinds || !rows)
    return 0;
  Step step(plan);
  DividedModel model{tables.getUnits(plan), *kinds, *rows};
  const ModelDivision &division = divisions.get(model, step.ranks, step.shape.getNumChunks(), step.cuts);
  DividedChunks chunks{division.chunks, divisions.getStates(model, step.ranks, division)};
  const Flights &flown = countFlights(step);
  ChunkSummer summer = getSummer(step, flown, *rows);
  double longest = 0, update = 0;
  for (auto [sum, end] :
       llvm::zip(sumStages(flown, step.shape.stages, chunks, summer), replaySteps(step, chunks, summer))) {
    longest = std::max(longest, end + sum.last + sum.reduction);
    update = std::max(update, sum.update);
  }
  return longest + update;
}

std::optional<PlanEstimate> PlanEstimator::estimate(const Plan &plan) {
  const std::vector<UnitTable> *kinds = tables.get(plan);
  const StateRows *rows = kinds ? tables.getRows(plan) : nullptr;
  if (!rows)
    return std::nullopt;
  return weigh(Step(plan), {tables.getUnits(plan), *kinds, *rows}, Weighing::Estimate);
}

std::optional<PlanEstimate> PlanEstimator::boundWith(const Plan &plan, bool anyRecompute, Weighing how) {
  const std::vector<UnitTable> *kinds = tables.getLeast(plan, anyRecompute);
  const StateRows *rows = kinds ? tables.getLeastRows(plan) : nullptr;
  if (!rows)
    return std::nullopt;
  return weigh(Step(plan), {tables.getUnits(plan), *kinds, *rows}, how);
}

std::optional<PlanEstimate> PlanEstimator::bound(const Plan &plan) {
  return boundWith(plan, /*anyRecompute=*/false, Weighing::Bound);
}

std::optional<PlanEstimate> PlanEstimator::boundFamily(const Plan &plan, bool anyGroup) {
  return boundWith(plan, /*anyRecompute=*/true, anyGroup ? Weighing::BoundOfGroups : Weighing::Bound);
}
