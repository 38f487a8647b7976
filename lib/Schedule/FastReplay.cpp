//===- FastReplay.cpp - what lists cost, for a search ---------------------------------------------------===//
#include "ScheduleSearch.h"

#include <algorithm>
#include <limits>

using namespace mlir::par;

static constexpr double kNever = std::numeric_limits<double>::infinity();

double SearchProblem::getDuration(const Action &action) const {
  const ActionTimes &chunk = times.of(action.chunk);
  bool blocks = times.blockingTransfers;
  switch (action.kind) {
  case ActionKind::Forward:
    return chunk.forward + (blocks && action.chunk + 1 < getNumChunks() ? getTransfer(action.chunk) : 0);
  case ActionKind::BackwardInput:
    return chunk.backwardInput + (blocks && action.chunk > 0 ? getTransfer(action.chunk - 1) : 0);
  default:
    return chunk.backwardWeight;
  }
}

FastReplay::FastReplay(const SearchProblem &problem)
    : problem(problem), forward(size_t(problem.getNumChunks() * problem.shape.microBatches)),
      backward(forward.size()), position(size_t(problem.shape.stages)), now(position.size()),
      begun(position.size()) {}

bool FastReplay::keepsLimit(const StageLists &lists) const {
  for (size_t stage = 0; stage < lists.size(); ++stage) {
    double held = 0;
    for (const Action &action : lists[stage]) {
      if (action.kind == ActionKind::Forward && ++held > problem.memory.limits[stage] + 1e-9)
        return false;
      held -= action.kind == ActionKind::BackwardInput    ? 1 - problem.memory.weightShare
              : action.kind == ActionKind::BackwardWeight ? problem.memory.weightShare
                                                          : 0;
    }
  }
  return true;
}

/// When what an action needs is there.
double FastReplay::getArrival(const Action &action) const {
  int64_t microBatches = problem.shape.microBatches;
  auto at = [&](const std::vector<double> &ends, int64_t chunk) {
    return ends[size_t(chunk * microBatches + action.microBatch)];
  };
  auto over = [&](int64_t cut) { return problem.times.blockingTransfers ? 0 : problem.getTransfer(cut); };
  switch (action.kind) {
  case ActionKind::Forward:
    return action.chunk == 0 ? 0 : at(forward, action.chunk - 1) + over(action.chunk - 1);
  case ActionKind::BackwardInput: {
    double own = at(forward, action.chunk);
    return action.chunk + 1 == problem.getNumChunks()
               ? own
               : std::max(own, at(backward, action.chunk + 1) + over(action.chunk));
  }
  default:
    return at(backward, action.chunk);
  }
}

double FastReplay::getCost(const StageLists &lists) {
  if (!keepsLimit(lists))
    return kNever;
  std::fill(forward.begin(), forward.end(), kNever);
  std::fill(backward.begin(), backward.end(), kNever);
  std::fill(position.begin(), position.end(), 0);
  std::fill(now.begin(), now.end(), 0.0);
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t stage = 0; stage < lists.size(); ++stage)
      for (; position[stage] < lists[stage].size(); ++position[stage], moved = true) {
        const Action &action = lists[stage][position[stage]];
        double arrival = getArrival(action);
        if (arrival == kNever)
          break;
        double begin = std::max(now[stage], arrival), end = now[stage] = begin + problem.getDuration(action);
        if (position[stage] == 0)
          begun[stage] = begin;
        auto index = size_t(action.chunk * problem.shape.microBatches + action.microBatch);
        if (action.kind == ActionKind::Forward)
          forward[index] = end;
        else if (action.kind == ActionKind::BackwardInput)
          backward[index] = end;
      }
  }
  double last = 0, span = 0;
  for (size_t stage = 0; stage < lists.size(); ++stage) {
    if (position[stage] < lists[stage].size())
      return kNever;
    last = std::max(last, now[stage]);
    span = std::max(span, now[stage] - begun[stage]);
  }
  return getListCost(last, span);
}
