//===- CompleteStep.cpp - everything that a step does, stage by stage -----------------------------------===//
#include "ActionProducts.h"
#include "BuildSchedule.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>

using namespace llvm;

namespace mlir::par {

namespace {
/// The list of one stage, but for what it receives: that follows the other stages' lists.
class StageStep {
public:
  StageStep(const PipelineSchedule &schedule, const StepParts &parts, int64_t stage)
      : schedule(schedule), parts(parts), stage(stage), left(schedule.stageOfChunk.size()) {
    for (auto [chunk, place] : enumerate(schedule.stageOfChunk))
      if (place == stage)
        chunks.push_back(int64_t(chunk));
  }

  Actions run(const Actions &actions) {
    if (parts.gathers)
      addForChunks(ActionKind::Gather);
    for (const Action &action : actions)
      left[size_t(action.chunk)] += isLastOfMicroBatch(action.kind);
    for (const Action &action : actions)
      add(action);
    for (auto &[queue, send] : sent)
      waitFor(send);
    if (parts.updates)
      addUpdate();
    return std::move(step);
  }

private:
  static bool isLastOfMicroBatch(ActionKind kind) {
    return kind == ActionKind::Backward || kind == ActionKind::BackwardWeight;
  }

  bool isElsewhere(int64_t chunk) const {
    return chunk >= 0 && chunk < schedule.getNumChunks() && schedule.stageOfChunk[size_t(chunk)] != stage;
  }

  void addForChunks(ActionKind kind) {
    for (int64_t chunk : chunks)
      step.push_back({kind, chunk, -1});
  }

  void addUpdate() {
    for (int64_t chunk : chunks)
      if (!parts.reducesInLast.count(chunk))
        step.push_back({ActionKind::Reduce, chunk, -1});
    for (auto [number, stages] : enumerate(parts.tied))
      if (is_contained(stages, stage))
        step.push_back({ActionKind::SumGradients, int64_t(number), -1});
    addForChunks(ActionKind::Norm);
    if (schedule.shape.stages > 1)
      step.push_back({ActionKind::SumSquares, 0, -1});
    addForChunks(ActionKind::Update);
  }

  void add(Action action) {
    Action made = action;
    if (isLastOfMicroBatch(action.kind) && --left[size_t(action.chunk)] == 0 &&
        parts.reducesInLast.count(action.chunk))
      made.kind =
          action.kind == ActionKind::Backward ? ActionKind::BackwardLast : ActionKind::BackwardWeightLast;
    step.push_back(made);
    bool isForward = is_contained(getProducts(action.kind), Activation),
         goesBack = is_contained(getProducts(action.kind), InputGradient);
    if (isForward && isElsewhere(action.chunk + 1))
      handOn({ActionKind::SendActivation, action.chunk, action.microBatch});
    if (goesBack && isElsewhere(action.chunk - 1))
      handOn({ActionKind::SendGradient, action.chunk, action.microBatch});
  }

  void handOn(Action send) {
    Actions &waiting = together[{send.kind, send.chunk}];
    waiting.push_back(send);
    if (schedule.handsOnTogether && int64_t(waiting.size()) < schedule.shape.microBatches)
      return;
    for (const Action &each : waiting)
      begin(each);
    waiting.clear();
  }

  /// At most one message of a chunk and direction is under way while the next one is computed.
  void begin(const Action &send) {
    auto [before, isFirst] = sent.try_emplace({send.kind, send.chunk}, send);
    if (!isFirst)
      waitFor(std::exchange(before->second, send));
    step.push_back(send);
  }

  void waitFor(const Action &send) { step.push_back(getMessage(send)->getAction(MessagePart::Sent)); }

  using Queue = std::pair<ActionKind, int64_t>; ///< of sends, by kind and chunk
  const PipelineSchedule &schedule;
  const StepParts &parts;
  int64_t stage;
  std::vector<int64_t> chunks; ///< of the stage
  std::vector<int64_t> left;   ///< by chunk: backward passes that are still to come
  std::map<Queue, Actions> together;
  std::map<Queue, Action> sent; ///< and not waited for
  Actions step;
};

/// Adds what the stages receive.
class Receives {
public:
  explicit Receives(const PipelineSchedule &schedule)
      : schedule(schedule), sends(schedule.stages.size()),
        needs(size_t(2 * schedule.getNumChunks() * schedule.shape.microBatches)), isReceived(needs.size()) {}

  std::vector<Actions> run(const std::vector<Actions> &lists) {
    for (const Actions &list : lists)
      for (const Action &action : list)
        if (std::optional<Message> message = getMessage(action);
            message && message->part == MessagePart::Send)
          sends[size_t(schedule.stageOfChunk[size_t(message->to)])]
               [schedule.stageOfChunk[size_t(message->from)]]
                   .push_back(*message);
    std::vector<Actions> whole;
    for (auto [stage, list] : enumerate(lists))
      whole.push_back(addReceives(stage, list));
    return whole;
  }

private:
  /// The place of what a chunk needs in `needs` and `isReceived`.
  size_t getIndex(bool isGradient, int64_t chunk, int64_t microBatch) const {
    return size_t((chunk * 2 + int64_t(isGradient)) * schedule.shape.microBatches + microBatch);
  }

  Actions addReceives(size_t stage, const Actions &list) {
    size_t count = 0;
    for (const Action &action : list)
      if (std::optional<bool> isGradient = getNeed(action))
        needs[getIndex(*isGradient, action.chunk, action.microBatch)] = count++;
    // One action ahead, but in the order in which they are sent: no queue is overtaken.
    std::vector<Actions> begins(count);
    for (auto &[from, messages] : sends[stage]) {
      std::vector<size_t> places;
      size_t latest = count;
      for (const Message &message : reverse(messages)) {
        size_t index = getIndex(message.isGradient, message.to, message.microBatch);
        latest = std::min(latest, needs[index] == 0 ? 0 : needs[index] - 1);
        places.push_back(latest);
        isReceived[index] = true;
      }
      for (auto [message, place] : zip(messages, reverse(places)))
        begins[place].push_back(
            {message.isGradient ? ActionKind::ReceiveGradient : ActionKind::ReceiveActivation, message.to,
             message.microBatch});
    }
    Actions whole;
    size_t number = 0;
    for (const Action &action : list) {
      if (std::optional<bool> isGradient = getNeed(action)) {
        whole.insert(whole.end(), begins[number].begin(), begins[number].end());
        ++number;
        if (isReceived[getIndex(*isGradient, action.chunk, action.microBatch)])
          whole.push_back({*isGradient ? ActionKind::ReceivedGradient : ActionKind::ReceivedActivation,
                           action.chunk, action.microBatch});
      }
      whole.push_back(action);
    }
    return whole;
  }

  /// Whether an action that computes needs a gradient or, if not, an activation of a neighbour; none for
  /// others.
  static std::optional<bool> getNeed(const Action &action) {
    if (action.kind == ActionKind::BackwardWeight)
      return std::nullopt;
    if (is_contained(getProducts(action.kind), Activation))
      return false;
    if (is_contained(getProducts(action.kind), InputGradient))
      return true;
    return std::nullopt;
  }

  const PipelineSchedule &schedule;
  std::vector<std::map<int64_t, std::vector<Message>>>
      sends; ///< by receiving and sending stage, in their order
  // By gradient or activation, chunk that needs it, and micro-batch; each is of one stage.
  std::vector<size_t> needs; ///< which of the stage's actions needs it
  std::vector<bool> isReceived;
};
} // namespace

PipelineSchedule completeStep(PipelineSchedule schedule, StepParts parts) {
  std::vector<Actions> stages;
  for (auto [stage, actions] : enumerate(schedule.stages))
    stages.push_back(StageStep(schedule, parts, int64_t(stage)).run(actions));
  schedule.stages = Receives(schedule).run(stages);
  schedule.step = std::move(parts);
  return schedule;
}

PipelineSchedule buildForwardOnly(ActionKind kind, int64_t microBatches, std::vector<int64_t> stageOfChunk) {
  PipelineSchedule schedule;
  schedule.name = stringifyActionKind(kind).str();
  schedule.shape.stages = *std::max_element(stageOfChunk.begin(), stageOfChunk.end()) + 1;
  schedule.shape.microBatches = microBatches;
  schedule.shape.chunksPerStage =
      (int64_t(stageOfChunk.size()) + schedule.shape.stages - 1) / schedule.shape.stages;
  schedule.stageOfChunk = std::move(stageOfChunk);
  schedule.stages.resize(size_t(schedule.shape.stages));
  // What could run at one time if all chunks took as long; where a stage has several then, the last one.
  int64_t chunks = schedule.getNumChunks();
  for (int64_t time = 0; time < chunks + microBatches - 1; ++time)
    for (int64_t chunk = chunks; chunk-- > 0;)
      if (int64_t microBatch = time - chunk; microBatch >= 0 && microBatch < microBatches)
        schedule.stages[size_t(schedule.stageOfChunk[size_t(chunk)])].push_back({kind, chunk, microBatch});
  StepParts parts;
  parts.updates = false, parts.forwardOnly = true;
  return completeStep(std::move(schedule), parts);
}

} // namespace mlir::par
