//===- ScheduleSearch.h - what the search for a schedule consists of --------------------------*- C++ -*-===//
#ifndef PAR_LIB_SCHEDULE_SCHEDULESEARCH_H
#define PAR_LIB_SCHEDULE_SCHEDULESEARCH_H

#include "BuildSchedule.h"
#include "par/Schedule/SynthesizeSchedule.h"

namespace mlir::par {

/// What schedules are synthesised for.
struct SearchProblem {
  PipelineShape shape;
  std::vector<int64_t> stageOfChunk;
  StepTimes times;
  ScheduleMemory memory; ///< with a limit for each stage

  int64_t getStage(int64_t chunk) const { return stageOfChunk[size_t(chunk)]; }
  int64_t getNumChunks() const { return int64_t(stageOfChunk.size()); }
  /// From a chunk to its neighbour over a cut; none within a stage.
  double getTransfer(int64_t cut) const {
    return getStage(cut) == getStage(cut + 1) ? 0 : times.of(cut).transfer;
  }
  /// How long an action occupies its stage, with what it sends where transfers do.
  double getDuration(const Action &action) const;
};

using StageLists = std::vector<Actions>;

/// How a stage that is free decides (`scheduleGreedily`).
struct GreedyPolicy {
  /// Forward runs ahead of backward by this factor of what it does in 1f1b, P - s micro-batches, and so many
  /// more.
  double factor, ahead;
  double patience;     ///< a weight part is begun if nothing else comes in that part of its time
  int64_t mostWeights; ///< weight parts that may be late before one goes first
  bool forwardFirst;   ///< forward goes before backward
};

/// Lists of Forward, BackwardInput and BackwardWeight: every stage does what is ready, by the policy. Empty
/// if stages come to wait for each other.
StageLists scheduleGreedily(const SearchProblem &problem, const GreedyPolicy &policy);

/// What lists cost: the end of the last action, and a little for the longest time that a stage is busy or
/// waits: where steps need not wait for each other, that is what they take.
inline double getListCost(double end, double longestSpan) { return end + 0.1 * longestSpan; }

/// Replays lists fast, again and again, as if messages stood in no queue and no stage waited for what it
/// sends. So no action ends later than in a step.
class FastReplay {
public:
  explicit FastReplay(const SearchProblem &problem);
  /// Infinite where stages wait for each other, or hold more than their limit.
  double getCost(const StageLists &lists);

private:
  bool keepsLimit(const StageLists &lists) const;
  double getArrival(const Action &action) const;

  const SearchProblem &problem;
  std::vector<double> forward, backward; ///< by chunk and micro-batch: when it ended
  std::vector<size_t> position;
  std::vector<double> now, begun; ///< by stage: the end of its last action, the beginning of its first
};

/// Replays the step that lists become, with all messages (`replaySchedule`).
class StepJudge {
public:
  explicit StepJudge(const SearchProblem &problem);
  /// Infinite for lists that the replay refuses.
  double getCost(const StageLists &lists);

private:
  const SearchProblem &problem;
  PipelineSchedule schedule; ///< without lists
};

} // namespace mlir::par

#endif // PAR_LIB_SCHEDULE_SCHEDULESEARCH_H
