//===- CompleteStep.cpp - everything that a step does, stage by stage -----------------------------------===//
#include "BuildSchedule.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace mlir::par {

namespace {
/// The list of one stage.
class StageStep {
public:
  StageStep(const PipelineSchedule &schedule, StepParts parts, int64_t stage)
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
    if (!parts.updates)
      return std::move(step);
    if (!parts.reducesInLast)
      addForChunks(ActionKind::Reduce);
    addForChunks(ActionKind::Norm);
    addForChunks(ActionKind::Update);
    return std::move(step);
  }

private:
  static bool isLastOfMicroBatch(ActionKind kind) {
    return kind == ActionKind::Backward || kind == ActionKind::BackwardWeight;
  }

  bool isElsewhere(int64_t chunk) const {
    return chunk >= 0 && chunk < schedule.shape.getNumChunks() &&
           schedule.stageOfChunk[size_t(chunk)] != stage;
  }

  void addForChunks(ActionKind kind) {
    for (int64_t chunk : chunks)
      step.push_back({kind, chunk, -1});
  }

  void add(Action action) {
    bool isForward = action.kind == ActionKind::Forward;
    if (isForward && isElsewhere(action.chunk - 1))
      step.push_back({ActionKind::ReceiveActivation, action.chunk, action.microBatch});
    if (!isForward && action.kind != ActionKind::BackwardWeight && isElsewhere(action.chunk + 1))
      step.push_back({ActionKind::ReceiveGradient, action.chunk, action.microBatch});
    Action made = action;
    if (isLastOfMicroBatch(action.kind) && --left[size_t(action.chunk)] == 0 && parts.reducesInLast)
      made.kind = ActionKind::BackwardLast;
    step.push_back(made);
    if (isForward && isElsewhere(action.chunk + 1))
      send({ActionKind::SendActivation, action.chunk, action.microBatch});
    if (!isForward && action.kind != ActionKind::BackwardWeight && isElsewhere(action.chunk - 1))
      send({ActionKind::SendGradient, action.chunk, action.microBatch});
  }

  void send(Action action) {
    Actions &waiting = together[{action.kind, action.chunk}];
    waiting.push_back(action);
    if (schedule.handsOnTogether && int64_t(waiting.size()) < schedule.shape.microBatches)
      return;
    step.insert(step.end(), waiting.begin(), waiting.end());
    waiting.clear();
  }

  const PipelineSchedule &schedule;
  StepParts parts;
  int64_t stage;
  std::vector<int64_t> chunks; ///< of the stage
  std::vector<int64_t> left;   ///< by chunk: backward passes that are still to come
  std::map<std::pair<ActionKind, int64_t>, Actions> together;
  Actions step;
};
} // namespace

PipelineSchedule completeStep(PipelineSchedule schedule, StepParts parts) {
  std::vector<Actions> stages;
  for (auto [stage, actions] : enumerate(schedule.stages))
    stages.push_back(StageStep(schedule, parts, int64_t(stage)).run(actions));
  schedule.stages = std::move(stages);
  schedule.step = parts;
  return schedule;
}

std::optional<Action> getSender(const Action &receive) {
  if (receive.kind == ActionKind::ReceiveActivation)
    return Action{ActionKind::SendActivation, receive.chunk - 1, receive.microBatch};
  if (receive.kind == ActionKind::ReceiveGradient)
    return Action{ActionKind::SendGradient, receive.chunk + 1, receive.microBatch};
  return std::nullopt;
}

std::vector<Action> buildForwardOnly(ActionKind kind, int64_t microBatches) {
  std::vector<Action> actions;
  for (int64_t microBatch = 0; microBatch < microBatches; ++microBatch)
    actions.push_back({kind, 0, microBatch});
  return actions;
}

} // namespace mlir::par
