//===- PredictStep.cpp - how a training step will run, by the cost model --------------------------------===//
#include "par/Cost/PredictStep.h"
#include "par/Cost/ProgramTimes.h"
#include "par/Dialect/Rank/Analysis/StepLists.h"

using namespace mlir;
using namespace mlir::par;

/// Of a stage, what it computes: seconds on the timeline for each of its own.
static double getPace(const std::vector<TimedAction> &actions, const StepTimes &times) {
  double busy = 0, own = 0;
  for (const TimedAction &timed : actions)
    if (!getMessage(timed.action) && !isSum(timed.action.kind)) {
      busy += timed.end - timed.begin;
      own += times.getDuration(timed.action);
    }
  return own > 0 ? busy / own : 1;
}

/// What the stage that computes longest does; the rest of the step it waits for others. `paces`: by stage.
static TimeTerms explainStage(const rank::StepLists &step, double end, ProgramTimes &program,
                              llvm::ArrayRef<double> paces) {
  TimeTerms most;
  for (auto [entries, pace] : llvm::zip(step.entries, paces)) {
    TimeTerms terms;
    for (rank::EntryOpInterface entry : entries)
      if (isa<rank::ActionOp>(*entry))
        terms.add(program.measure(entry), pace);
    if (terms.sum() > most.sum())
      most = terms;
  }
  most.pipeline += end - most.sum();
  return most;
}

/// Of all entries, those that compute `quicker` times as quick.
static StepTimes measureEntries(const rank::StepLists &step, ProgramTimes &program, double quicker) {
  StepTimes times;
  for (const std::vector<rank::EntryOpInterface> &entries : step.entries)
    for (rank::EntryOpInterface entry : entries) {
      Action action = entry.getAction();
      auto [seconds, isNew] = times.entries.try_emplace({action.kind, action.chunk});
      if (isNew)
        seconds->second = program.measure(entry).sum() / (isa<rank::ActionOp>(*entry) ? quicker : 1);
    }
  return times;
}

FailureOr<PredictedStep> par::predictStep(ModuleOp module, const Machine &machine) {
  FailureOr<rank::StepLists> step = rank::StepLists::read(module, rank::Purpose::Train);
  if (failed(step))
    return failure();
  ProgramTimes program(module, machine);
  // Stages that share cores are measured with a core for each rank, and then share them. Without stages all
  // ranks compute all the time.
  double ranksPerCore = step->stages.size() > 1 ? machine.getOversubscription() : 1;
  StepTimes times = measureEntries(*step, program, ranksPerCore);
  times.blockingTransfers = machine.transfersBlock();
  llvm::Expected<Timeline> timeline = replaySchedule(step->lists, times);
  if (!timeline)
    return LogicalResult(module.emitError("the step cannot be replayed: ")
                         << llvm::toString(timeline.takeError()));
  std::vector<double> paces(step->stages.size(), 1);
  if (ranksPerCore > 1) {
    shareCores(*timeline, ranksPerCore);
    for (auto [pace, actions] : llvm::zip(paces, timeline->stages))
      pace = getPace(actions, times) / ranksPerCore;
  }
  TimeTerms terms = explainStage(*step, timeline->end, program, paces);
  return PredictedStep{std::move(step->lists), std::move(*timeline), terms};
}
