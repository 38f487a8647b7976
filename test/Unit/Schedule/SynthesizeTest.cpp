//===- SynthesizeTest.cpp - the schedule `auto` for random times and limits -----------------------------===//
#include "par/Schedule/SynthesizeSchedule.h"
#include "par/Schedule/Timeline.h"

#include <gtest/gtest.h>
#include <random>

using namespace mlir::par;

namespace {

struct Problem {
  PipelineShape shape;
  StepTimes times;
  ScheduleMemory memory;
};

Problem makeProblem(unsigned seed) {
  std::mt19937 random(seed);
  auto pick = [&](int first, int last) { return std::uniform_int_distribution<int>(first, last)(random); };
  Problem problem;
  problem.shape = {pick(1, 5), pick(1, 7), pick(1, 3)};
  problem.times.chunks.clear();
  for (int64_t chunk = 0; chunk < problem.shape.getNumChunks(); ++chunk)
    problem.times.chunks.push_back(
        {double(pick(1, 5)), double(pick(1, 5)), double(pick(0, 4)), double(pick(0, 3))});
  problem.times.blockingTransfers = pick(0, 1);
  for (int64_t stage = 0; stage < problem.shape.stages; ++stage)
    problem.memory.limits.push_back(double(problem.shape.chunksPerStage * pick(1, 6)));
  problem.memory.weightShare = pick(0, 4) / 4.0;
  return problem;
}

/// The most that a stage holds, counted along its list.
double countHeld(const std::vector<Action> &list, double weightShare) {
  double held = 0, most = 0;
  for (const Action &action : list) {
    if (action.kind == ActionKind::Forward)
      most = std::max(most, ++held);
    else
      held -= action.kind == ActionKind::BackwardInput ? 1 - weightShare : weightShare;
  }
  return most;
}

TEST(Synthesized, IsASchedule) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    Problem problem = makeProblem(seed);
    auto schedule = synthesizeSchedule(problem.shape, problem.times, problem.memory);
    ASSERT_TRUE(bool(schedule)) << seed << ": " << llvm::toString(schedule.takeError());
    llvm::Expected<Timeline> timeline = replaySchedule(*schedule, problem.times);
    ASSERT_TRUE(bool(timeline)) << seed << ": " << llvm::toString(timeline.takeError());
    for (int64_t stage = 0; stage < problem.shape.stages; ++stage)
      EXPECT_LE(countHeld(schedule->stages[size_t(stage)], problem.memory.weightShare),
                problem.memory.limits[size_t(stage)] + 1e-6)
          << "seed " << seed << ", stage " << stage;
    // Everything else of a step fits around the lists.
    StepParts parts;
    parts.gathers = seed % 2;
    if (seed % 3)
      parts.reducesInLast.insert(0);
    PipelineSchedule step = completeStep(*schedule, parts);
    llvm::Expected<Timeline> whole = replaySchedule(step, problem.times);
    EXPECT_TRUE(bool(whole)) << seed << ": " << llvm::toString(whole.takeError());
  }
}

TEST(Synthesized, IsTheSameAgain) {
  Problem problem = makeProblem(5);
  auto one = synthesizeSchedule(problem.shape, problem.times, problem.memory),
       two = synthesizeSchedule(problem.shape, problem.times, problem.memory);
  ASSERT_TRUE(bool(one) && bool(two));
  EXPECT_TRUE(one->stages == two->stages);
}

/// The schedule of a search that has the memory which another one takes.
llvm::Expected<PipelineSchedule> synthesizeWithin(PipelineShape shape, const StepTimes &times,
                                                  const Timeline &other) {
  ScheduleMemory memory;
  for (double held : other.peakLive)
    memory.limits.push_back(held * double(shape.chunksPerStage));
  return synthesizeSchedule(shape, times, memory);
}

/// With as much memory as they take, it is no longer than any schedule that has a name.
TEST(Synthesized, IsNoLongerThanNamedOnes) {
  for (llvm::StringRef name : {"1f1b", "gpipe", "zb-h1", "zb-h2", "zb-v"}) {
    PipelineShape shape{4, 6, getUsualChunks(name)};
    auto named = buildSchedule(name, shape);
    ASSERT_TRUE(bool(named));
    StepTimes times(3, 2, 1, 0.5);
    auto timeline = replaySchedule(*named, times);
    ASSERT_TRUE(bool(timeline));
    auto schedule = synthesizeWithin(shape, times, *timeline);
    ASSERT_TRUE(bool(schedule)) << llvm::toString(schedule.takeError());
    auto own = replaySchedule(*schedule, times);
    ASSERT_TRUE(bool(own));
    EXPECT_LE(own->end, timeline->end + 1e-9) << name.str();
  }
}

/// Seconds of the step that lists become, without its updates.
double measureStep(PipelineSchedule schedule, const StepTimes &times) {
  StepParts parts;
  parts.updates = false;
  auto timeline = replaySchedule(completeStep(std::move(schedule), parts), times);
  EXPECT_TRUE(bool(timeline)) << llvm::toString(timeline.takeError());
  return timeline ? timeline->end : 0;
}

/// Messages wait for each other, which lists without them do not say.
TEST(Synthesized, StepsAreNoLongerThanNamedOnes) {
  for (double transfer : {0.5, 1.0, 2.0})
    for (llvm::StringRef name : {"1f1b", "zb-h1", "zb-h2", "zb-v", "dualpipe-v"}) {
      PipelineShape shape{4, 8, getUsualChunks(name)};
      auto named = buildSchedule(name, shape);
      ASSERT_TRUE(bool(named));
      StepTimes times(3, 2, 1, transfer);
      auto timeline = replaySchedule(*named, times);
      ASSERT_TRUE(bool(timeline));
      auto schedule = synthesizeWithin(shape, times, *timeline);
      ASSERT_TRUE(bool(schedule)) << llvm::toString(schedule.takeError());
      double own = measureStep(*schedule, times), other = measureStep(*named, times);
      EXPECT_LE(own, other + 1e-9) << name.str() << ", " << transfer;
    }
}

} // namespace
