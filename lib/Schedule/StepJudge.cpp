//===- StepJudge.cpp - what the step costs that lists become
//---------------------------------------------===//
#include "ActionProducts.h"
#include "ScheduleSearch.h"
#include "par/Schedule/Timeline.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <limits>

using namespace mlir::par;

StepJudge::StepJudge(const SearchProblem &problem) : problem(problem) {
  schedule.shape = problem.shape;
  schedule.stageOfChunk = problem.stageOfChunk;
}

double StepJudge::getCost(const StageLists &lists) {
  StepParts parts;
  parts.updates = false; // the same for all lists, behind all that they order
  PipelineSchedule step = schedule;
  step.stages = lists;
  step = completeStep(std::move(step), std::move(parts));
  llvm::Expected<Timeline> timeline = replaySchedule(step, problem.times);
  if (!timeline) {
    llvm::consumeError(timeline.takeError());
    return std::numeric_limits<double>::infinity();
  }
  double end = 0, span = 0;
  for (const std::vector<TimedAction> &stage : timeline->stages) {
    auto isComputed = [](const TimedAction &timed) { return isOrdered(timed.action.kind); };
    auto first = llvm::find_if(stage, isComputed);
    auto last = llvm::find_if(llvm::reverse(stage), isComputed);
    if (first == stage.end())
      continue;
    end = std::max(end, last->end);
    span = std::max(span, last->end - first->begin);
  }
  return getListCost(end, span);
}
