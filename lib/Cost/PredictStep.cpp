//===- PredictStep.cpp - how a training step will run, by the cost model --------------------------------===//
#include "par/Cost/PredictStep.h"
#include "par/Cost/ProgramTimes.h"
#include "par/Dialect/Rank/Analysis/StepLists.h"

using namespace mlir;
using namespace mlir::par;

/// What the stage that computes longest does, `pace` times as long as by itself; the rest of the step it
/// waits for others.
static TimeTerms explainStage(const rank::StepLists &step, const Timeline &timeline, ProgramTimes &program,
                              double pace) {
  TimeTerms most;
  for (const std::vector<rank::EntryOpInterface> &entries : step.entries) {
    TimeTerms terms;
    for (rank::EntryOpInterface entry : entries)
      if (isa<rank::ActionOp>(*entry))
        terms.add(program.measure(entry), pace);
    if (terms.sum() > most.sum())
      most = terms;
  }
  most.pipeline += timeline.end - most.sum();
  return most;
}

FailureOr<PredictedStep> par::predictStep(ModuleOp module, const Machine &machine) {
  FailureOr<rank::StepLists> step = rank::StepLists::read(module, rank::Purpose::Train);
  if (failed(step))
    return failure();
  ProgramTimes program(module, machine);
  StepTimes times;
  for (const std::vector<rank::EntryOpInterface> &entries : step->entries)
    for (rank::EntryOpInterface entry : entries) {
      Action action = entry.getAction();
      auto [seconds, isNew] = times.entries.try_emplace({action.kind, action.chunk});
      if (isNew)
        seconds->second = program.measure(entry).sum();
    }
  llvm::Expected<Timeline> timeline = replaySchedule(step->lists, times);
  if (!timeline)
    return LogicalResult(module.emitError("the step cannot be replayed: ")
                         << llvm::toString(timeline.takeError()));
  // Ranks that share cores compute quicker while others of them wait: all of it, as far as the model goes.
  double pace = timeline->end > 0 ? machine.getSharedStep(timeline->end, timeline->work) / timeline->end : 1;
  if (pace < 1) {
    for (auto &[entry, seconds] : times.entries)
      seconds *= pace;
    timeline = replaySchedule(step->lists, times);
    if (!timeline)
      return LogicalResult(module.emitError("the step cannot be replayed: ")
                           << llvm::toString(timeline.takeError()));
  }
  TimeTerms terms = explainStage(*step, *timeline, program, pace);
  return PredictedStep{std::move(step->lists), std::move(*timeline), terms};
}
