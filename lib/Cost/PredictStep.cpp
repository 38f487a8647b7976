//===- PredictStep.cpp - how a training step will run, by the cost model --------------------------------===//
#include "par/Cost/PredictStep.h"
#include "par/Cost/ProgramTimes.h"
#include "par/Dialect/Rank/Analysis/StepLists.h"

using namespace mlir;
using namespace mlir::par;

FailureOr<PredictedStep> par::predictStep(ModuleOp module, const DeviceRates &rates) {
  FailureOr<rank::StepLists> step = rank::StepLists::read(module, rank::Purpose::Train);
  if (failed(step))
    return failure();
  ProgramTimes program(module, rates);
  StepTimes times;
  for (const std::vector<rank::EntryOpInterface> &entries : step->entries)
    for (rank::EntryOpInterface entry : entries) {
      Action action = entry.getAction();
      auto [seconds, isNew] = times.entries.try_emplace({action.kind, action.chunk});
      if (isNew)
        seconds->second = program.measure(entry);
    }
  llvm::Expected<Timeline> timeline = replaySchedule(step->lists, times);
  if (!timeline)
    return LogicalResult(module.emitError("the step cannot be replayed: ")
                         << llvm::toString(timeline.takeError()));
  return PredictedStep{std::move(step->lists), std::move(*timeline)};
}
