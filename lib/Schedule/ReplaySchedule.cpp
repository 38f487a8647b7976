//===- ReplaySchedule.cpp - lists of actions, run in time -----------------------------------------------===//
#include "par/Schedule/Schedule.h"

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

/// What an action makes that others wait for. `Backward` makes both gradients.
enum Product { Activation, InputGradient, WeightGradient, kProducts };

Product getProduct(ActionKind kind) {
  return kind == ActionKind::Forward          ? Activation
         : kind == ActionKind::BackwardWeight ? WeightGradient
                                              : InputGradient;
}

class Replay {
public:
  Replay(const PipelineSchedule &schedule, const ActionTimes &times)
      : schedule(schedule), times(times), position(schedule.stages.size()), now(schedule.stages.size()),
        waiting(size_t(schedule.shape.getNumChunks()) * kProducts), counts(waiting.size()) {
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
  size_t getIndex(int64_t chunk, int64_t microBatch) const {
    return size_t(chunk * schedule.shape.microBatches + microBatch);
  }

  /// Every chunk goes forward and back with every micro-batch once, on its stage, by `Backward` or by both
  /// parts.
  Error checkActions() const {
    int64_t chunks = schedule.shape.getNumChunks(), microBatches = schedule.shape.microBatches;
    if (int64_t(schedule.stageOfChunk.size()) != chunks ||
        int64_t(schedule.stages.size()) != schedule.shape.stages)
      return fail("the schedule has lists for " + Twine(schedule.stages.size()) + " stages and places for " +
                  Twine(schedule.stageOfChunk.size()) + " chunks, expected " + Twine(schedule.shape.stages) +
                  " and " + Twine(chunks));
    std::vector<uint8_t> seen(size_t(chunks * microBatches));
    for (auto [stage, actions] : enumerate(schedule.stages))
      for (const Action &action : actions) {
        if (action.chunk < 0 || action.chunk >= chunks || action.microBatch < 0 ||
            action.microBatch >= microBatches)
          return fail("stage " + Twine(stage) + " names chunk " + Twine(action.chunk) + ", micro-batch " +
                      Twine(action.microBatch) + "; there are " + Twine(chunks) + " and " +
                      Twine(microBatches));
        if (schedule.stageOfChunk[size_t(action.chunk)] != int64_t(stage))
          return fail("stage " + Twine(stage) + " has " + schedule.describe(action) + " of chunk " +
                      Twine(action.chunk) + ", which is on stage " +
                      Twine(schedule.stageOfChunk[size_t(action.chunk)]));
        uint8_t &mask = seen[getIndex(action.chunk, action.microBatch)];
        if (mask & getMask(action.kind))
          return fail("stage " + Twine(stage) + " has " + schedule.describe(action) + " twice");
        mask |= getMask(action.kind);
      }
    for (auto [index, mask] : enumerate(seen))
      if (mask != (1 << kProducts) - 1)
        return fail("chunk " + Twine(index / size_t(microBatches)) + " does not go through micro-batch " +
                    Twine(index % size_t(microBatches) + 1) + " forward and back");
    return Error::success();
  }

  static uint8_t getMask(ActionKind kind) {
    return kind == ActionKind::Backward ? 1 << InputGradient | 1 << WeightGradient : 1 << getProduct(kind);
  }

  /// What an action reads of another one; both products of a backward action come from forward and from the
  /// chunk behind.
  struct Need {
    Product product;
    int64_t chunk;
  };
  SmallVector<Need, 2> getNeeds(const Action &action) const {
    switch (action.kind) {
    case ActionKind::Forward:
      if (action.chunk == 0)
        return {};
      return {{Activation, action.chunk - 1}};
    case ActionKind::BackwardWeight:
      return {{InputGradient, action.chunk}};
    default:
      SmallVector<Need, 2> needs{{Activation, action.chunk}};
      if (action.chunk + 1 < schedule.shape.getNumChunks())
        needs.push_back({InputGradient, action.chunk + 1});
      return needs;
    }
  }

  /// When it is there, `kNever` if it is not yet.
  double getArrival(size_t stage, Need need, int64_t microBatch) const {
    bool moved = schedule.stageOfChunk[size_t(need.chunk)] != int64_t(stage);
    double end = made[need.product][getIndex(need.chunk, microBatch)];
    if (schedule.handsOnTogether && moved) {
      if (counts[getQueue(need)] < schedule.shape.microBatches)
        return kNever;
      auto begin = made[need.product].begin() + int64_t(getIndex(need.chunk, 0));
      end = *std::max_element(begin, begin + schedule.shape.microBatches);
    }
    return end == kNever || !moved ? end : end + times.transfer;
  }

  size_t getQueue(Need need) const { return size_t(need.chunk) * kProducts + need.product; }

  /// Runs the next action of a stage, or makes the stage wait for what is missing.
  bool runNext(size_t stage) {
    const Action &action = getCurrent(stage);
    double begin = now[stage];
    for (Need need : getNeeds(action)) {
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
      return times.backwardInput + times.backwardWeight;
    case ActionKind::BackwardInput:
      return times.backwardInput;
    case ActionKind::BackwardWeight:
      return times.backwardWeight;
    }
    llvm_unreachable("all kinds are above");
  }

  void finish(const Action &action, double end) {
    Need need{getProduct(action.kind), action.chunk};
    made[need.product][getIndex(action.chunk, action.microBatch)] = end;
    ++counts[getQueue(need)];
    // Stages look again whether it is what they wait for.
    std::vector<size_t> woken;
    woken.swap(waiting[getQueue(need)]);
    ready.insert(ready.end(), woken.begin(), woken.end());
  }

  /// The need of the stage's current action that is not met.
  Need getMissing(size_t stage) const {
    const Action &action = getCurrent(stage);
    for (Need need : getNeeds(action))
      if (getArrival(stage, need, action.microBatch) == kNever)
        return need;
    llvm_unreachable("the stage does not wait");
  }

  /// Every stage that waits waits for one that waits: following them leads into a cycle.
  std::string describeCycle(size_t stage) const {
    SmallVector<size_t> path;
    auto next = [&](size_t at) { return size_t(schedule.stageOfChunk[size_t(getMissing(at).chunk)]); };
    for (; !is_contained(path, stage); stage = next(stage))
      path.push_back(stage);
    std::string text = "stages wait for each other: ";
    for (auto *it = find(path, stage); it != path.end(); ++it) {
      const Action &action = getCurrent(*it);
      Need need = getMissing(*it);
      ActionKind kind = need.product == Activation ? ActionKind::Forward : ActionKind::BackwardInput;
      text += (*it == stage ? "stage " : ", stage ") + std::to_string(*it) + " is at " +
              schedule.describe(action) + " and waits for " +
              schedule.describe({kind, need.chunk, action.microBatch}) + " of stage " +
              std::to_string(next(*it));
    }
    return text;
  }

  void summarize() {
    double share = 1.0 / double(schedule.shape.chunksPerStage);
    for (const std::vector<TimedAction> &actions : timeline.stages) {
      double live = 0, most = 0;
      for (const TimedAction &timed : actions) {
        if (timed.action.kind == ActionKind::Forward)
          most = std::max(most, live += share);
        else if (timed.action.kind != ActionKind::BackwardInput)
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
  std::vector<size_t> position;             ///< by stage: the next action
  std::vector<double> now;                  ///< by stage: the end of the last one
  std::vector<double> made[kProducts];      ///< by chunk and micro-batch: the end of what makes it
  std::vector<std::vector<size_t>> waiting; ///< by chunk and product: stages that need one of them
  std::vector<int64_t> counts;              ///< by chunk and product: how many there are
  std::vector<size_t> ready;
  Timeline timeline;
};

} // namespace

Expected<Timeline> replaySchedule(const PipelineSchedule &schedule, const ActionTimes &times) {
  return Replay(schedule, times).run();
}

} // namespace mlir::par
