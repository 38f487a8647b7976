//===- PlanEstimate.cpp - time and memory of a plan from tables -----------------------------------------===//
#include "par/Planner/PlanEstimate.h"
#include "par/Cost/CollectiveTimes.h"
#include "par/Schedule/Timeline.h"
#include "par/Sharding/MeshAxes.h"

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
    for (const std::vector<Action> &list : schedule->stages)
      counts.places.push_back(listPlaces(list));
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
// Stages
//===----------------------------------------------------------------------===//

/// One stage over a step.
class mlir::par::StageSum {
public:
  /// `part`: of state, that ZeRO leaves a rank.
  explicit StageSum(double part) : part(part) {}

  /// `isFirst`: of the model.
  void add(const ChunkTable &chunk, bool isFirst, const Plan &plan, const Cluster &cluster);
  /// What the chunks of another one take, too.
  void join(const StageSum &chunks);

  /// Seconds of a micro-batch: there, back, and what no stage waits for.
  double forward = 0, backward = 0, weight = 0;
  double transfers = 0;    ///< seconds of its messages to the next stages, and as many back
  double last = 0;         ///< seconds that the last micro-batch's backward pass takes longer
  double reduction = 0;    ///< seconds behind all micro-batches
  double update = 0;       ///< seconds behind the reductions of all stages
  double state = 0;        ///< bytes
  double gatheredOnce = 0; ///< bytes of parameters that are gathered for the step
  /// Bytes of what is neither state nor saved while a chunk runs: beside what is gathered for the step, and
  /// in the second part of a split backward pass, which needs no parameters.
  llvm::SmallVector<std::pair<double, double>, 8> whole;
  double offloaded = 0; ///< bytes of state on the host
  double staged = 0;    ///< bytes of offloaded state that is on the device while it is updated
  /// Seconds of a micro-batch's way through the first chunk, there and back.
  double firstForward = 0, firstBackward = 0;

private:
  double part;

  void addComputing(const ChunkTable &chunk, const Plan &plan, const ConcurrencyModel &concurrency);
  void addState(const ChunkTable &chunk, const Plan &plan);
  void addWhole(const ChunkTable &chunk, const Plan &plan);
  void addCollectives(const ChunkTable &chunk, bool isFirst, const Plan &plan,
                      const ConcurrencyModel &concurrency);
  void addOffload(const ChunkTable &chunk, const Plan &plan, const Cluster &cluster);
};

static bool gathersAgain(const Plan &plan) {
  return plan.zero == 3 && plan.zero3Gather == GatherTime::PerMicroBatch;
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

/// What a chunk's functions take of a micro-batch, by stage of ZeRO (Rajbhandari et al., 1910.02054, section
/// 7). Where a backward pass is split, its second part has the gradients of weights.
static ActionTimes getTimes(const ChunkTable &chunk, const Plan &plan, const ConcurrencyModel &concurrency) {
  double gather = gathersAgain(plan) ? chunk.gatherParameters : 0;
  double gatherBack = gathersAgain(plan) ? chunk.gatherBack : 0;
  double scatter = plan.zero >= 2 ? chunk.scatterGradients : 0;
  double back = chunk.backwardInput + chunk.backwardWeight;
  ActionTimes times{chunk.forward, chunk.backwardInput, chunk.backwardWeight, chunk.transfer};
  times.forward += getShown(gather, chunk.forward, chunk.units, plan, concurrency);
  if (chunk.hasBackward())
    (splitsBackward(plan.schedule) ? times.backwardWeight : times.backwardInput) +=
        getShown(gatherBack + scatter, back, chunk.unitsBack, plan, concurrency);
  return times;
}

void StageSum::addComputing(const ChunkTable &chunk, const Plan &plan, const ConcurrencyModel &concurrency) {
  ActionTimes times = getTimes(chunk, plan, concurrency);
  if (forward == 0) {
    firstForward = times.forward + times.transfer;
    firstBackward = chunk.hasBackward() ? times.backwardInput + times.transfer : 0;
  }
  forward += times.forward;
  backward += times.backwardInput;
  weight += times.backwardWeight;
  transfers += times.transfer;
  update += plan.zero ? chunk.update * part : chunk.update;
}

/// By stage of ZeRO (Rajbhandari et al., 1910.02054, section 3; docs/Formulas.md, "State").
void StageSum::addState(const ChunkTable &chunk, const Plan &plan) {
  double parameters = plan.zero < 3 ? chunk.parameters : chunk.parameters * part;
  double gradients = plan.zero < 2 ? chunk.gradients : chunk.gradients * part;
  if (plan.zero == 1)
    gradients += chunk.gradients * part;
  if (plan.zero == 3 && plan.zero3Gather == GatherTime::PerStep)
    gatheredOnce += chunk.parameters;
  state += parameters + gradients + (plan.zero ? chunk.optimizer * part : chunk.optimizer);
}

/// What lies whole for a while: parameters that are gathered and gradients that are still to be scattered, of
/// a unit, and beside overlap of the next one too. The first part of a split backward pass has no gradients
/// of weights, the second part no parameters.
void StageSum::addWhole(const ChunkTable &chunk, const Plan &plan) {
  double times = plan.overlap && chunk.units > 1 ? 2 : 1;
  double gathered = gathersAgain(plan) ? times * chunk.gathered : 0;
  double reduced = plan.zero >= 2 ? times * chunk.reduced : 0;
  if (splitsBackward(plan.schedule))
    whole.emplace_back(chunk.workspace + gathered, reduced);
  else
    whole.emplace_back(chunk.workspace + gathered + reduced, 0);
}

/// What is exchanged once a step.
void StageSum::addCollectives(const ChunkTable &chunk, bool isFirst, const Plan &plan,
                              const ConcurrencyModel &concurrency) {
  auto shown = [&](double collectives, double computing) {
    return getShown(collectives, computing, chunk.units, plan, concurrency);
  };
  bool isSplit = splitsBackward(plan.schedule);
  // Beside overlap the last backward function of a chunk that hands no gradient on reduces, too.
  double reduce = plan.zero == 0 ? chunk.reduceGradients : chunk.reduceParts;
  if (plan.zero == 1)
    reduce += chunk.scatterGradients;
  if (isFirst || isSplit)
    reduce = shown(reduce, chunk.backwardInput + chunk.backwardWeight);
  (plan.overlap && isFirst && !isSplit ? last : reduction) += reduce;
  if (plan.zero > 0 && !gathersAgain(plan))
    update += shown(plan.zero == 3 ? chunk.gatherParameters : chunk.gatherTrained, chunk.forward);
}

/// The optimizer's state comes from the host and goes back.
void StageSum::addOffload(const ChunkTable &chunk, const Plan &plan, const Cluster &cluster) {
  if (plan.offload == OffloadKind::None)
    return;
  double bytes = plan.zero ? chunk.optimizer * part : chunk.optimizer;
  state -= bytes;
  offloaded += bytes;
  staged = std::max(staged, chunk.largestOptimizer * (plan.zero ? part : 1));
  auto tensors = static_cast<double>(chunk.states);
  double copies = tensors > 0 ? 2 * tensors * getCopySeconds(bytes / tensors, cluster) : 0;
  double computing = plan.zero ? chunk.update * part : chunk.update;
  update += plan.overlap ? std::max(copies - computing, 0.0) : copies; // one tensor's beside another's
}

void StageSum::add(const ChunkTable &chunk, bool isFirst, const Plan &plan, const Cluster &cluster) {
  addComputing(chunk, plan, cluster.concurrency);
  addState(chunk, plan);
  addWhole(chunk, plan);
  addCollectives(chunk, isFirst, plan, cluster.concurrency);
  addOffload(chunk, plan, cluster);
}

void StageSum::join(const StageSum &chunks) {
  if (forward == 0) {
    firstForward = chunks.firstForward;
    firstBackward = chunks.firstBackward;
  }
  for (auto sum : {&StageSum::forward, &StageSum::backward, &StageSum::weight, &StageSum::transfers,
                   &StageSum::last, &StageSum::reduction, &StageSum::update, &StageSum::state,
                   &StageSum::gatheredOnce, &StageSum::offloaded})
    this->*sum += chunks.*sum;
  whole.append(chunks.whole);
  staged = std::max(staged, chunks.staged);
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

/// No schedule takes less: a stage computes all micro-batches behind the first one's way there and, where the
/// parts of a backward pass are not told apart, before the last one's way back.
static double boundStep(llvm::ArrayRef<StageSum> stages, const Plan &plan, const Cluster &cluster) {
  auto microBatches = static_cast<double>(plan.microBatches);
  double begin = 0, drain = 0, longest = shareWork(stages, plan), update = 0;
  double pace = getPace(stages, cluster);
  for (const StageSum &stage : stages) {
    double busy = pace * microBatches * (stage.forward + stage.backward + stage.weight);
    longest = std::max({longest, begin + busy + drain, begin + busy + stage.reduction});
    update = std::max(update, stage.update);
    begin += pace * stage.firstForward;
    if (!splitsBackward(plan.schedule))
      drain += pace * stage.firstBackward;
  }
  return longest + update;
}

std::vector<StageSum> PlanEstimator::sumStages(const Plan &plan, const ModelDivision &division) {
  double part = 1 / static_cast<double>(countStateRanks(plan.mesh));
  std::vector<StageSum> stages(static_cast<size_t>(plan.countStages()), StageSum(part));
  const std::vector<int64_t> &stageOf = countFlights(plan).stageOf;
  StageSum one(part);
  for (size_t at = 0; at < stageOf.size(); ++at) {
    if (!division.chunks.isLikeLast(at)) {
      one = StageSum(part);
      one.add(division.chunks[at], /*isFirst=*/at == 0, plan, cluster);
    }
    stages[static_cast<size_t>(stageOf[at])].join(one);
  }
  return stages;
}

PlanEstimate PlanEstimator::weigh(const Plan &plan, const std::vector<UnitTable> &kinds, Weighing how) {
  bool anyGroup = how == Weighing::BoundOfGroups;
  const ModelDivision &division = divisions.get(plan, tables.getKinds(plan), kinds, anyGroup);
  const Places &places = how == Weighing::Estimate ? countMessages(plan) : countFlights(plan).places;
  std::vector<StageSum> stages = sumStages(plan, division);
  PlanEstimate result;
  if (how == Weighing::Estimate)
    result.cuts = division.cuts;
  result.leastSeconds = boundStep(stages, plan, cluster);
  result.seconds = how == Weighing::Estimate ? sumStep(stages, plan, cluster) : result.leastSeconds;
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
  return result;
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
  const ModelDivision &division = divisions.get(plan, tables.getKinds(plan), *kinds);
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
