//===- ReplaySchedule.cpp - lists of actions, run in time -----------------------------------------------===//
#include "ActionProducts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>
#include <optional>

using namespace llvm;

namespace mlir::par {

static Error fail(const Twine &message) {
  return createStringError(std::make_error_code(std::errc::invalid_argument), message);
}

namespace {

class Replay {
public:
  Replay(const PipelineSchedule &schedule, const ActionTimes &times, SmallVectorImpl<ActionPlace> &faults)
      : schedule(schedule), times(times), faults(faults), position(schedule.stages.size()),
        now(schedule.stages.size()), waiting(size_t(schedule.shape.getNumChunks()) * kProducts),
        counts(waiting.size()) {
    for (std::vector<double> &ends : made)
      ends.resize(size_t(schedule.shape.getNumChunks() * schedule.shape.microBatches), kNever);
    timeline.stages.resize(schedule.stages.size());
  }

  Expected<Timeline> run() {
    if (Error error = checkActions())
      return std::move(error);
    for (size_t stage = 0; stage < position.size(); ++stage)
      ready.push_back(stage);
    while (!ready.empty()) {
      size_t stage = ready.back();
      ready.pop_back();
      while (position[stage] < schedule.stages[stage].size() && runNext(stage)) {
      }
    }
    for (size_t stage = 0; stage < position.size(); ++stage)
      if (position[stage] < schedule.stages[stage].size())
        return fail(describeCycle(stage));
    summarize();
    return std::move(timeline);
  }

private:
  static constexpr double kNever = -1;

  const Action &getCurrent(size_t stage) const { return schedule.stages[stage][position[stage]]; }
  /// What is made once per step stands at micro-batch 0.
  size_t getIndex(Product product, int64_t chunk, int64_t microBatch) const {
    return size_t(chunk * schedule.shape.microBatches + (product < Gathered ? microBatch : 0));
  }
  bool isElsewhere(size_t stage, int64_t chunk) const {
    return schedule.stageOfChunk[size_t(chunk)] != int64_t(stage);
  }

  /// Every chunk goes forward and back with every micro-batch once, on its stage, by `Backward` or by both
  /// parts; in a whole step it also sends, receives and is updated.
  Error checkActions() const {
    int64_t chunks = schedule.shape.getNumChunks(), microBatches = schedule.shape.microBatches;
    if (int64_t(schedule.stageOfChunk.size()) != chunks ||
        int64_t(schedule.stages.size()) != schedule.shape.stages)
      return fail("the schedule has lists for " + Twine(schedule.stages.size()) + " stages and places for " +
                  Twine(schedule.stageOfChunk.size()) + " chunks, expected " + Twine(schedule.shape.stages) +
                  " and " + Twine(chunks));
    std::vector<uint16_t> seen(size_t(chunks * microBatches));
    for (auto [stage, actions] : enumerate(schedule.stages))
      for (auto [position, action] : enumerate(actions)) {
        faults.assign({{stage, position}});
        if (Error error = checkAction(stage, action))
          return error;
        for (Product product : getProducts(action.kind)) {
          uint16_t &mask = seen[getIndex(product, action.chunk, action.microBatch)];
          if (mask & 1 << product)
            return fail("stage " + Twine(stage) + " has " + schedule.describe(action) + " twice");
          mask |= 1 << product;
        }
      }
    faults.clear();
    for (auto [index, mask] : enumerate(seen))
      if (Error error = checkDone(int64_t(index) / microBatches, int64_t(index) % microBatches, mask))
        return error;
    return Error::success();
  }

  Error checkAction(size_t stage, const Action &action) const {
    int64_t chunks = schedule.shape.getNumChunks(), microBatches = schedule.shape.microBatches;
    if (!schedule.step && !isOrdered(action.kind))
      return fail("stage " + Twine(stage) + " has " + schedule.describe(action) +
                  ", which only the list of a whole step has");
    bool known = isPerStep(action.kind) ? action.microBatch == -1
                                        : action.microBatch >= 0 && action.microBatch < microBatches;
    if (action.chunk < 0 || action.chunk >= chunks || !known)
      return fail("stage " + Twine(stage) + " names chunk " + Twine(action.chunk) + ", micro-batch " +
                  Twine(action.microBatch) + "; there are " + Twine(chunks) + " and " + Twine(microBatches));
    if (isElsewhere(stage, action.chunk))
      return fail("stage " + Twine(stage) + " has " + schedule.describe(action) + " of chunk " +
                  Twine(action.chunk) + ", which is on stage " +
                  Twine(schedule.stageOfChunk[size_t(action.chunk)]));
    return Error::success();
  }

  Error checkDone(int64_t chunk, int64_t microBatch, uint16_t mask) const {
    constexpr uint16_t passes = 1 << Activation | 1 << InputGradient | 1 << WeightGradient;
    if ((mask & passes) != passes)
      return fail("chunk " + Twine(chunk) + " does not go through micro-batch " + Twine(microBatch + 1) +
                  " forward and back");
    uint16_t others = schedule.step ? getExpected(chunk, microBatch) : 0;
    if ((mask & ~passes) != others)
      return fail("chunk " + Twine(chunk) + " does not " + describe(uint16_t((mask & ~passes) ^ others)) +
                  " once where that is needed" +
                  (microBatch == 0 ? Twine("") : ", in micro-batch " + Twine(microBatch + 1)));
    return Error::success();
  }

  /// Beside both passes.
  uint16_t getExpected(int64_t chunk, int64_t microBatch) const {
    auto isApart = [&](int64_t other) {
      return other >= 0 && other < schedule.shape.getNumChunks() &&
             isElsewhere(size_t(schedule.stageOfChunk[size_t(chunk)]), other);
    };
    int expected = 0;
    if (isApart(chunk - 1))
      expected |= 1 << ReceivedActivation | 1 << SentGradient;
    if (isApart(chunk + 1))
      expected |= 1 << SentActivation | 1 << ReceivedGradient;
    if (microBatch == 0 && schedule.step->gathers)
      expected |= 1 << Gathered;
    if (microBatch == 0 && schedule.step->updates)
      expected |= 1 << Reduced | 1 << Normed | 1 << Updated;
    return uint16_t(expected);
  }

  static std::string describe(uint16_t products) {
    std::string text;
    for (int product = SentActivation; product < kProducts; ++product)
      if (products & 1 << product)
        text += (text.empty() ? "" : ", ") + stringifyActionKind(getMaker(Product(product))).str();
    return text;
  }

  /// What an action reads of another one; both products of a backward action come from forward and from the
  /// chunk behind.
  struct Need {
    Product product;
    int64_t chunk;
    bool all = false; ///< of every micro-batch
    int64_t own = 0;  ///< of which the action makes so many itself
  };
  /// Where a whole step has a receive, the chunk itself has received.
  Need getHandedOn(size_t stage, Product made, Product received, int64_t chunk, int64_t from) const {
    return schedule.step && isElsewhere(stage, from) ? Need{received, chunk} : Need{made, from};
  }
  SmallVector<Need, 2> getNeeds(size_t stage, const Action &action) const {
    switch (action.kind) {
    case ActionKind::Forward: {
      SmallVector<Need, 2> needs;
      if (schedule.step && schedule.step->gathers)
        needs.push_back({Gathered, action.chunk});
      if (action.chunk > 0)
        needs.push_back(getHandedOn(stage, Activation, ReceivedActivation, action.chunk, action.chunk - 1));
      return needs;
    }
    case ActionKind::BackwardWeight:
      return {{InputGradient, action.chunk}};
    case ActionKind::SendActivation:
      return {{Activation, action.chunk}};
    case ActionKind::ReceiveActivation:
      return {{SentActivation, action.chunk - 1}};
    case ActionKind::SendGradient:
      return {{InputGradient, action.chunk}};
    case ActionKind::ReceiveGradient:
      return {{SentGradient, action.chunk + 1}};
    case ActionKind::Reduce:
      return {{WeightGradient, action.chunk, true}};
    case ActionKind::Norm: {
      // Of all parameters.
      SmallVector<Need, 2> needs;
      for (int64_t chunk = 0; chunk < schedule.shape.getNumChunks(); ++chunk)
        needs.push_back({Reduced, chunk});
      return needs;
    }
    case ActionKind::Update:
      return {{Normed, action.chunk}};
    case ActionKind::Gather:
    case ActionKind::Eval:
    case ActionKind::Logits:
      return {};
    default:
      SmallVector<Need, 2> needs{{Activation, action.chunk}};
      if (action.kind == ActionKind::BackwardLast)
        needs.push_back({WeightGradient, action.chunk, true, 1});
      if (action.chunk + 1 < schedule.shape.getNumChunks())
        needs.push_back(getHandedOn(stage, InputGradient, ReceivedGradient, action.chunk, action.chunk + 1));
      return needs;
    }
  }

  /// When it is there, `kNever` if it is not yet.
  double getArrival(size_t stage, Need need, int64_t microBatch) const {
    // What is summed over stages has no size.
    bool moved = isElsewhere(stage, need.chunk) && need.product < Gathered;
    double end = made[need.product][getIndex(need.product, need.chunk, std::max<int64_t>(microBatch, 0))];
    if (need.all || (schedule.handsOnTogether && moved && !schedule.step)) {
      if (counts[getQueue(need)] < schedule.shape.microBatches - need.own)
        return kNever;
      auto begin = made[need.product].begin() + int64_t(getIndex(need.product, need.chunk, 0));
      end = std::max(0.0, *std::max_element(begin, begin + schedule.shape.microBatches));
    }
    return end == kNever || !moved ? end : end + times.transfer;
  }

  size_t getQueue(Need need) const { return size_t(need.chunk) * kProducts + need.product; }

  /// Runs the next action of a stage, or makes the stage wait for what is missing.
  bool runNext(size_t stage) {
    const Action &action = getCurrent(stage);
    double begin = now[stage];
    for (Need need : getNeeds(stage, action)) {
      double arrival = getArrival(stage, need, action.microBatch);
      if (arrival == kNever) {
        waiting[getQueue(need)].push_back(stage);
        return false;
      }
      begin = std::max(begin, arrival);
    }
    double end = begin + getDuration(action.kind);
    timeline.stages[stage].push_back({action, begin, end});
    now[stage] = end;
    ++position[stage];
    finish(action, end);
    return true;
  }

  double getDuration(ActionKind kind) const {
    switch (kind) {
    case ActionKind::Forward:
      return times.forward;
    case ActionKind::Backward:
    case ActionKind::BackwardLast:
      return times.backwardInput + times.backwardWeight;
    case ActionKind::BackwardInput:
      return times.backwardInput;
    case ActionKind::BackwardWeight:
      return times.backwardWeight;
    default:
      return 0;
    }
  }

  void finish(const Action &action, double end) {
    for (Product product : getProducts(action.kind)) {
      Need need{product, action.chunk};
      made[product][getIndex(product, need.chunk, action.microBatch)] = end;
      ++counts[getQueue(need)];
      // Stages look again whether it is what they wait for.
      std::vector<size_t> woken;
      woken.swap(waiting[getQueue(need)]);
      ready.insert(ready.end(), woken.begin(), woken.end());
    }
  }

  /// The need of the stage's current action that is not met.
  Need getMissing(size_t stage) const {
    const Action &action = getCurrent(stage);
    for (Need need : getNeeds(stage, action))
      if (getArrival(stage, need, action.microBatch) == kNever)
        return need;
    llvm_unreachable("the stage does not wait");
  }

  /// Every stage that waits waits for one that waits: following them leads into a cycle.
  std::string describeCycle(size_t stage) {
    SmallVector<size_t> path;
    auto next = [&](size_t at) { return size_t(schedule.stageOfChunk[size_t(getMissing(at).chunk)]); };
    for (; !is_contained(path, stage); stage = next(stage))
      path.push_back(stage);
    std::string text = "stages wait for each other: ";
    for (auto *it = find(path, stage); it != path.end(); ++it) {
      const Action &action = getCurrent(*it);
      Need need = getMissing(*it);
      ActionKind kind = getMaker(need.product);
      int64_t microBatch = std::max<int64_t>(action.microBatch, 0);
      if (need.all)
        for (microBatch = 0; microBatch == action.microBatch ||
                             made[need.product][getIndex(need.product, need.chunk, microBatch)] != kNever;)
          ++microBatch;
      faults.push_back({*it, position[*it]});
      addMaker(next(*it), need, microBatch);
      text += (*it == stage ? "stage " : ", stage ") + std::to_string(*it) + " is at " +
              schedule.describe(action) + " and waits for " +
              schedule.describe({kind, need.chunk, isPerStep(kind) ? -1 : microBatch}) + " of stage " +
              std::to_string(next(*it));
    }
    return text;
  }

  /// Which entry of a stage's list would make what is needed.
  void addMaker(size_t stage, Need need, int64_t microBatch) {
    for (size_t i = position[stage] + 1; i < schedule.stages[stage].size(); ++i) {
      const Action &action = schedule.stages[stage][i];
      if (action.chunk == need.chunk && is_contained(getProducts(action.kind), need.product) &&
          (isPerStep(action.kind) || action.microBatch == microBatch))
        return faults.push_back({stage, i});
    }
  }

  void summarize() {
    double share = 1.0 / double(schedule.shape.chunksPerStage);
    for (const std::vector<TimedAction> &actions : timeline.stages) {
      double live = 0, most = 0;
      for (const TimedAction &timed : actions) {
        if (timed.action.kind == ActionKind::Forward)
          most = std::max(most, live += share);
        else if (is_contained(getProducts(timed.action.kind), WeightGradient))
          live -= share;
      }
      timeline.peakLive.push_back(most);
      timeline.end = std::max(timeline.end, actions.back().end);
      timeline.longestSpan = std::max(timeline.longestSpan, actions.back().end - actions.front().begin);
    }
    timeline.work = double(schedule.shape.microBatches * schedule.shape.chunksPerStage) *
                    (times.forward + times.backwardInput + times.backwardWeight);
  }

  const PipelineSchedule &schedule;
  const ActionTimes &times;
  SmallVectorImpl<ActionPlace> &faults;
  std::vector<size_t> position;             ///< by stage: the next action
  std::vector<double> now;                  ///< by stage: the end of the last one
  std::vector<double> made[kProducts];      ///< by chunk and micro-batch: the end of what makes it
  std::vector<std::vector<size_t>> waiting; ///< by chunk and product: stages that need one of them
  std::vector<int64_t> counts;              ///< by chunk and product: how many there are
  std::vector<size_t> ready;
  Timeline timeline;
};

} // namespace

Expected<Timeline> replaySchedule(const PipelineSchedule &schedule, const ActionTimes &times,
                                  SmallVectorImpl<ActionPlace> *faults) {
  SmallVector<ActionPlace, 0> ignored;
  return Replay(schedule, times, faults ? *faults : ignored).run();
}

} // namespace mlir::par
