//===- StageSum.cpp - a stage over a step ---------------------------------------------------------------===//
#include "StageSum.h"

using namespace mlir::par;

namespace {
/// Collectives of one chunk in one action.
struct Exchanged {
  double seconds = 0;
  bool isStarted = false;

  void add(const CollectiveRow &row, const ExchangeSum &sum) {
    seconds += sum.seconds;
    isStarted |= row.isStarted;
  }
  /// Seconds that they cost the chunk. Functions wait for all that they start: that of the first or last unit
  /// has nothing to run beside. What runs beside others slows them down, which shows where these take longer.
  double show(double computing, int64_t units, const ConcurrencyModel &concurrency) const {
    if (!isStarted)
      return seconds;
    double begun = seconds / concurrency.communicateShare;
    double alone = 1 / static_cast<double>(units);
    double slowed = begun * (alone + (1 - alone) * (1 - concurrency.computeShare));
    return std::max(slowed, begun - computing * (1 - alone));
  }
};
} // namespace

ActionTimes ChunkSummer::getTimes(const ChunkTable &chunk, const ChunkState &stored) const {
  Exchanged forward, whole, input, weight;
  for (auto [row, sum] : llvm::zip(rows.collectives, stored.exchanged))
    if (row.action == ActionKind::Forward)
      forward.add(row, sum);
    else if (row.action == ActionKind::Backward)
      whole.add(row, sum);
    else if (row.action == ActionKind::BackwardInput)
      input.add(row, sum);
    else if (row.action == ActionKind::BackwardWeight)
      weight.add(row, sum);
  ActionTimes times{chunk.forward, chunk.backwardInput, chunk.backwardWeight, chunk.transfer};
  times.forward += forward.show(chunk.forward, chunk.units, concurrency);
  if (!chunk.hasBackward())
    return times;
  times.joined = whole.show(chunk.backwardInput + chunk.backwardWeight, chunk.unitsBack, concurrency);
  double ofInput = input.show(chunk.backwardInput, chunk.unitsBack, concurrency);
  double ofWeight =
      rows.splitsBackward ? weight.show(chunk.backwardWeight, chunk.unitsBack, concurrency) : times.joined;
  times.backwardInput += ofInput;
  times.backwardWeight += ofWeight;
  times.joined -= ofInput + ofWeight;
  return times;
}

void StageSum::addComputing(const ChunkTable &chunk, const ActionTimes &times, const ChunkSummer &summer) {
  if (forward == 0) {
    firstForward = times.forward + times.transfer;
    firstBackward = chunk.hasBackward() ? summer.getBackward(times) + times.transfer : 0;
  }
  forward += times.forward;
  backward += summer.getBackward(times);
  weight += (1 - summer.wholeShare) * times.backwardWeight;
  transfers += times.transfer;
}

/// The second part of a split backward pass has gradients of weights, but no parameters.
void StageSum::addWhole(const ChunkTable &chunk, const ChunkState &stored, const ChunkSummer &summer) {
  bool hasParts = summer.wholeShare < 1, knowsParts = summer.rows.splitsBackward;
  bool hasWhole = summer.wholeShare > 0 && (knowsParts || !hasParts);
  double reduced = std::max(hasWhole ? stored.reduced : 0, stored.reducedInput);
  whole.emplace_back(chunk.workspace + stored.gathered + reduced,
                     hasParts && !knowsParts ? stored.reduced : stored.reducedWeight);
}

/// What is exchanged once a step: behind all micro-batches, or in the last backward action. Of a whole
/// backward pass that is so in chunks that hand no gradient on (par-fuse-reduction).
void StageSum::addCollectives(const ChunkTable &chunk, const StateTable &variables, bool isFirst,
                              const ChunkSummer &summer) {
  Exchanged behind, beside, once;
  for (auto [row, sum] : llvm::zip(summer.rows.collectives, variables.exchanged))
    if (row.action == ActionKind::BackwardLast && !isFirst && summer.wholeShare == 1)
      behind.seconds += sum.seconds;
    else if (row.action == ActionKind::BackwardLast || row.action == ActionKind::BackwardWeightLast)
      beside.add(row, sum);
    else if (row.action == ActionKind::Reduce)
      behind.seconds += sum.seconds;
    else if (row.action == ActionKind::Gather || row.action == ActionKind::Update)
      once.add(row, sum);
  reduction += behind.seconds;
  (summer.wholeShare < 1 ? reduction : last) +=
      beside.show(chunk.backwardInput + chunk.backwardWeight, chunk.units, summer.concurrency);
  double besideOnce =
      summer.rows.startsCopies ? std::max(variables.update, variables.copies) : variables.update;
  update += once.show(besideOnce, chunk.units, summer.concurrency);
}

/// The optimizer's state comes from the host and goes back, if it lies there: what is started, one tensor's
/// beside another's.
void StageSum::addUpdate(const StateTable &variables, const ChunkSummer &summer) {
  update += variables.update;
  update += summer.rows.startsCopies ? std::max(variables.copies - variables.update, 0.0) : variables.copies;
}

void StageSum::add(const ChunkTable &chunk, const ChunkState &stored, const StateTable &variables,
                   bool isFirst, const ChunkSummer &summer) {
  addComputing(chunk, summer.getTimes(chunk, stored), summer);
  state += variables.device;
  offloaded += variables.host;
  gatheredOnce += variables.gathered;
  staged = std::max(staged, variables.staged);
  addWhole(chunk, stored, summer);
  addCollectives(chunk, variables, isFirst, summer);
  addUpdate(variables, summer);
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
