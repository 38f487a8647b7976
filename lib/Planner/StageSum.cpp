//===- StageSum.cpp - a stage over a step ---------------------------------------------------------------===//
#include "StageSum.h"
#include "par/Cost/CollectiveTimes.h"

using namespace mlir::par;

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

ActionTimes mlir::par::getTimes(const ChunkTable &chunk, const Plan &plan,
                                const ConcurrencyModel &concurrency) {
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
}

/// By stage of ZeRO (Rajbhandari et al., 1910.02054, section 3; docs/Formulas.md, "State").
void StageSum::addStored(const StateTable &variables, const Plan &plan) {
  double parameters = plan.zero < 3 ? variables.parameters : variables.parameters * part;
  double gradients = plan.zero < 2 ? variables.gradients : variables.gradients * part;
  if (plan.zero == 1)
    gradients += variables.gradients * part;
  if (plan.zero == 3 && plan.zero3Gather == GatherTime::PerStep)
    gatheredOnce += variables.parameters;
  state += parameters + gradients;
  double optimizer = plan.zero ? variables.optimizer * part : variables.optimizer;
  (plan.offload == OffloadKind::None ? state : offloaded) += optimizer;
}

/// What lies whole for a while: parameters that are gathered and gradients that are still to be scattered, of
/// a unit, and beside overlap of the next one too. The first part of a split backward pass has no gradients
/// of weights, the second part no parameters.
void StageSum::addWhole(const ChunkTable &chunk, const Plan &plan) {
  double gathered = plan.overlap ? chunk.gatheredBeside : chunk.gathered;
  double reduced = plan.overlap ? chunk.reducedBeside : chunk.reduced;
  gathered = gathersAgain(plan) ? gathered : 0;
  reduced = plan.zero >= 2 ? reduced : 0;
  if (splitsBackward(plan.schedule))
    whole.emplace_back(chunk.workspace + gathered, reduced);
  else
    whole.emplace_back(chunk.workspace + gathered + reduced, 0);
}

/// What is exchanged once a step.
void StageSum::addCollectives(const ChunkTable &chunk, const DataTimes &data, bool isFirst, const Plan &plan,
                              const ConcurrencyModel &concurrency) {
  auto shown = [&](double collectives, double computing) {
    return getShown(collectives, computing, chunk.units, plan, concurrency);
  };
  bool isSplit = splitsBackward(plan.schedule);
  // Beside overlap the last backward function of a chunk that hands no gradient on reduces, too.
  double reduce = plan.zero == 0 ? data.reduce : data.reduceParts;
  if (plan.zero == 1)
    reduce += data.scatter;
  if (isFirst || isSplit)
    reduce = shown(reduce, chunk.backwardInput + chunk.backwardWeight);
  (plan.overlap && isFirst && !isSplit ? last : reduction) += reduce;
  if (plan.zero > 0 && !gathersAgain(plan))
    update += shown(plan.zero == 3 ? data.gather : data.gatherTrained, chunk.forward);
}

/// The optimizer's state comes from the host and goes back, if it lies there.
void StageSum::addUpdate(const StateTable &variables, const Plan &plan, const Cluster &cluster) {
  double computing = plan.zero ? variables.update * part : variables.update;
  update += computing;
  if (plan.offload == OffloadKind::None)
    return;
  double bytes = plan.zero ? variables.optimizer * part : variables.optimizer;
  staged = std::max(staged, variables.largestOptimizer * (plan.zero ? part : 1));
  auto tensors = static_cast<double>(variables.states);
  double copies = tensors > 0 ? 2 * tensors * getCopySeconds(bytes / tensors, cluster) : 0;
  update += plan.overlap ? std::max(copies - computing, 0.0) : copies; // one tensor's beside another's
}

void StageSum::add(const ChunkTable &chunk, const StateTable &variables, bool isFirst, const Plan &plan,
                   const Cluster &cluster) {
  addComputing(chunk, plan, cluster.concurrency);
  addStored(variables, plan);
  addWhole(chunk, plan);
  addCollectives(chunk, variables.data, isFirst, plan, cluster.concurrency);
  addUpdate(variables, plan, cluster);
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
