//===- ReplaySchedule.cpp - lists of actions, run in time -----------------------------------------------===//
#include "ActionProducts.h"
#include "MessageQueues.h"
#include "par/Support/MakeError.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>
#include <map>
#include <optional>

using namespace llvm;

namespace mlir::par {

namespace {

class Replay {
public:
  Replay(const PipelineSchedule &schedule, const StepTimes &times, SmallVectorImpl<ActionPlace> &faults)
      : schedule(schedule), times(times), faults(faults), queues(schedule, times),
        position(schedule.stages.size()), now(schedule.stages.size()) {
    timeline.stages.resize(schedule.stages.size());
  }

  Expected<Timeline> run() {
    if (Error error = checkActions(schedule, faults))
      return std::move(error);
    size_t each = size_t(schedule.getNumChunks() * schedule.shape.microBatches);
    for (std::vector<double> &ends : made)
      ends.resize(each, kNever);
    waiting.resize(size_t(schedule.getNumChunks()) * kProducts);
    counts.resize(waiting.size());
    if (schedule.step)
      sums.resize(schedule.step->tied.size() + 1);
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
        return makeError(describeCycle(stage));
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

  //===--------------------------------------------------------------------===//
  // What actions make for others
  //===--------------------------------------------------------------------===//

  /// What an action reads of another one; both products of a backward action come from forward and from the
  /// chunk behind.
  struct Need {
    Product product;
    int64_t chunk;
    bool all = false; ///< of every micro-batch
    int64_t own = 0;  ///< of which the action makes so many itself
  };
  using Needs = SmallVector<Need, 2>;

  /// Where a whole step has a receive, the chunk itself has received.
  Need getHandedOn(size_t stage, Product made, Product received, int64_t chunk, int64_t from) const {
    return schedule.step && isElsewhere(stage, from) ? Need{received, chunk} : Need{made, from};
  }

  Needs getNeeds(size_t stage, const Action &action) const {
    switch (action.kind) {
    case ActionKind::Forward:
    case ActionKind::Eval:
    case ActionKind::Logits: {
      Needs needs;
      if (schedule.step && schedule.step->gathers)
        needs.push_back({Gathered, action.chunk});
      if (action.chunk > 0)
        needs.push_back(getHandedOn(stage, Activation, ReceivedActivation, action.chunk, action.chunk - 1));
      return needs;
    }
    case ActionKind::BackwardWeight:
    case ActionKind::SendGradient:
      return {{InputGradient, action.chunk}};
    case ActionKind::BackwardWeightLast:
      return {{InputGradient, action.chunk}, {WeightGradient, action.chunk, true, 1}};
    case ActionKind::SendActivation:
      return {{Activation, action.chunk}};
    case ActionKind::Reduce:
      return {{WeightGradient, action.chunk, true}};
    case ActionKind::SumGradients:
    case ActionKind::Norm:
      return getNeedsOfStage(stage, Reduced);
    case ActionKind::SumSquares:
    case ActionKind::Update:
      return getNeedsOfStage(stage, Normed);
    case ActionKind::Backward:
    case ActionKind::BackwardInput:
    case ActionKind::BackwardLast: {
      Needs needs{{Activation, action.chunk}};
      if (action.kind == ActionKind::BackwardLast)
        needs.push_back({WeightGradient, action.chunk, true, 1});
      if (action.chunk + 1 < schedule.getNumChunks())
        needs.push_back(getHandedOn(stage, InputGradient, ReceivedGradient, action.chunk, action.chunk + 1));
      return needs;
    }
    default:
      return {};
    }
  }

  /// Of all chunks of the stage.
  Needs getNeedsOfStage(size_t stage, Product product) const {
    Needs needs;
    for (int64_t chunk = 0; chunk < schedule.getNumChunks(); ++chunk)
      if (!isElsewhere(stage, chunk))
        needs.push_back({product, chunk});
    return needs;
  }

  /// When it is there, `kNever` if it is not yet.
  double getArrival(size_t stage, Need need, int64_t microBatch) const {
    bool moved = isElsewhere(stage, need.chunk) && need.product < Gathered;
    double end = made[need.product][getIndex(need.product, need.chunk, std::max<int64_t>(microBatch, 0))];
    if (need.all || (schedule.handsOnTogether && moved && !schedule.step)) {
      if (counts[getQueue(need)] < schedule.shape.microBatches - need.own)
        return kNever;
      auto begin = made[need.product].begin() + int64_t(getIndex(need.product, need.chunk, 0));
      end = std::max(0.0, *std::max_element(begin, begin + schedule.shape.microBatches));
    }
    if (end == kNever || !moved || times.blockingTransfers)
      return end;
    return end + getTransfer(need.product == Activation ? need.chunk : need.chunk - 1);
  }

  /// Over the cut behind a chunk.
  double getTransfer(int64_t cut) const { return times.of(cut).transfer; }

  size_t getQueue(Need need) const { return size_t(need.chunk) * kProducts + need.product; }

  //===--------------------------------------------------------------------===//
  // Sums
  //===--------------------------------------------------------------------===//

  /// A sum of stages, which begins when all have come.
  struct Sum {
    std::map<size_t, double> come; ///< when, by stage
    std::vector<size_t> waiting;
  };

  Sum &getSum(const Action &sum) {
    return sums[sum.kind == ActionKind::SumSquares ? schedule.step->tied.size() : size_t(sum.chunk)];
  }
  bool takesPart(size_t stage, const Action &sum) const {
    return sum.kind == ActionKind::SumSquares ||
           is_contained(schedule.step->tied[size_t(sum.chunk)], int64_t(stage));
  }

  /// When all have come, this stage at `when`; `kNever` before that.
  double come(size_t stage, const Action &action, double when) {
    Sum &sum = getSum(action);
    if (sum.come.try_emplace(stage, when).second)
      wake(sum.waiting);
    double last = 0;
    for (size_t other = 0; other < schedule.stages.size(); ++other)
      if (takesPart(other, action)) {
        auto found = sum.come.find(other);
        if (found == sum.come.end())
          return kNever;
        last = std::max(last, found->second);
      }
    return last;
  }

  //===--------------------------------------------------------------------===//
  // Actions
  //===--------------------------------------------------------------------===//

  /// Runs the next action of a stage, or makes the stage wait for what is missing.
  bool runNext(size_t stage) {
    const Action &action = getCurrent(stage);
    double begun = now[stage];
    for (Need need : getNeeds(stage, action)) {
      double arrival = getArrival(stage, need, action.microBatch);
      if (arrival == kNever) {
        waiting[getQueue(need)].push_back(stage);
        return false;
      }
      begun = std::max(begun, arrival);
    }
    std::optional<Message> message = getMessage(action);
    bool isWait = message && !message->begins();
    if (isWait) {
      std::optional<double> end = queues.getEnd(*message);
      if (!end) {
        queues.wait(*message, stage);
        return false;
      }
      begun = std::max(begun, *end);
    }
    if (isSum(action.kind)) {
      double last = come(stage, action, begun);
      if (last == kNever) {
        getSum(action).waiting.push_back(stage);
        return false;
      }
      begun = std::max(begun, last);
    }
    double end = begun + getDuration(stage, action);
    timeline.stages[stage].push_back({action, begun, end});
    now[stage] = end;
    ++position[stage];
    if (message && !isWait)
      queues.begin(*message, {stage, timeline.stages[stage].size() - 1}, end, ready);
    finish(action, end);
    return true;
  }

  double getDuration(size_t stage, const Action &action) const {
    return times.getDuration(action) + (times.blockingTransfers ? getSending(stage, action) : 0);
  }

  /// How long a stage sends: in lists of a whole step by an entry, in others behind what makes it.
  double getSending(size_t stage, const Action &action) const {
    if (std::optional<Message> message = getMessage(action))
      return message->part == MessagePart::Send ? times.getTransfer(*message) : 0;
    if (schedule.step)
      return 0;
    int64_t chunks = schedule.getNumChunks();
    SmallVector<Product, 3> made = getProducts(action.kind);
    if (is_contained(made, Activation) && action.chunk + 1 < chunks && isElsewhere(stage, action.chunk + 1))
      return getTransfer(action.chunk);
    if (is_contained(made, InputGradient) && action.chunk > 0 && isElsewhere(stage, action.chunk - 1))
      return getTransfer(action.chunk - 1);
    return 0;
  }

  void finish(const Action &action, double end) {
    for (Product product : getProducts(action.kind)) {
      Need need{product, action.chunk};
      made[product][getIndex(product, need.chunk, action.microBatch)] = end;
      ++counts[getQueue(need)];
      wake(waiting[getQueue(need)]);
    }
  }

  /// Stages look again whether it is what they wait for.
  void wake(std::vector<size_t> &stages) {
    ready.insert(ready.end(), stages.begin(), stages.end());
    stages.clear();
  }

  //===--------------------------------------------------------------------===//
  // Stages that wait for each other
  //===--------------------------------------------------------------------===//

  /// What the current action of a stage waits for, and on which stage that is.
  struct Missing {
    size_t stage;
    Action action;
  };

  Missing getMissing(size_t stage) {
    const Action &action = getCurrent(stage);
    for (Need need : getNeeds(stage, action))
      if (getArrival(stage, need, action.microBatch) == kNever)
        return getMissing(need, action);
    if (isSum(action.kind)) {
      for (size_t other = 0; other < schedule.stages.size(); ++other)
        if (takesPart(other, action) && !getSum(action).come.count(other))
          return {other, action};
      llvm_unreachable("all stages have come");
    }
    ActionPlace place = queues.findMissing(*getMessage(action));
    return {place.stage, schedule.stages[place.stage][place.position]};
  }

  Missing getMissing(Need need, const Action &action) const {
    ActionKind kind = getMaker(need.product);
    int64_t microBatch = std::max<int64_t>(action.microBatch, 0);
    if (need.all)
      for (microBatch = 0; microBatch == action.microBatch ||
                           made[need.product][getIndex(need.product, need.chunk, microBatch)] != kNever;)
        ++microBatch;
    if (need.product == Activation && schedule.step && schedule.step->forwardOnly)
      kind = action.kind == ActionKind::Logits ? ActionKind::Logits : ActionKind::Eval;
    return {size_t(schedule.stageOfChunk[size_t(need.chunk)]),
            {kind, need.chunk, isPerStep(kind) ? -1 : microBatch}};
  }

  /// Every stage that waits waits for one that waits: following them leads into a cycle.
  std::string describeCycle(size_t stage) {
    SmallVector<size_t> path;
    for (; !is_contained(path, stage); stage = getMissing(stage).stage)
      path.push_back(stage);
    std::string text = "stages wait for each other: ";
    for (auto *it = find(path, stage); it != path.end(); ++it) {
      Missing missing = getMissing(*it);
      faults.push_back({*it, position[*it]});
      addMaker(missing);
      text += (*it == stage ? "stage " : ", stage ") + std::to_string(*it) + " is at " +
              schedule.describe(getCurrent(*it)) + " and waits for " + schedule.describe(missing.action) +
              " of stage " + std::to_string(missing.stage);
    }
    return text;
  }

  /// Which entry of a stage's list would make what is needed.
  void addMaker(const Missing &missing) {
    auto isMaker = [&](const Action &action) {
      if (action == missing.action)
        return true;
      SmallVector<Product, 3> made = getProducts(action.kind);
      return action.chunk == missing.action.chunk &&
             (isPerStep(action.kind) || action.microBatch == missing.action.microBatch) &&
             any_of(getProducts(missing.action.kind), [&](Product product) {
               return getMaker(product) == missing.action.kind && is_contained(made, product);
             });
    };
    for (size_t i = position[missing.stage]; i < schedule.stages[missing.stage].size(); ++i)
      if (isMaker(schedule.stages[missing.stage][i]))
        return faults.push_back({missing.stage, i});
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
    for (const std::vector<TimedAction> &actions : timeline.stages)
      for (const TimedAction &timed : actions)
        timeline.work += isSum(timed.action.kind) ? 0 : times.getDuration(timed.action);
    timeline.work /= double(schedule.stages.size());
    timeline.messages = queues.getTimeline();
  }

  const PipelineSchedule &schedule;
  const StepTimes &times;
  SmallVectorImpl<ActionPlace> &faults;
  MessageQueues queues;
  std::vector<size_t> position;             ///< by stage: the next action
  std::vector<double> now;                  ///< by stage: the end of the last one
  std::vector<double> made[kProducts];      ///< by chunk and micro-batch: the end of what makes it
  std::vector<std::vector<size_t>> waiting; ///< by chunk and product: stages that need one of them
  std::vector<int64_t> counts;              ///< by chunk and product: how many there are
  std::vector<Sum> sums;                    ///< of gradients, and then that of squares
  std::vector<size_t> ready;
  Timeline timeline;
};

} // namespace

Expected<Timeline> replaySchedule(const PipelineSchedule &schedule, const StepTimes &times,
                                  SmallVectorImpl<ActionPlace> *faults) {
  SmallVector<ActionPlace, 0> ignored;
  return Replay(schedule, times, faults ? *faults : ignored).run();
}

} // namespace mlir::par
