//===- ScheduleTest.cpp - schedules of every shape, and lists that are wrong ----------------------------===//
#include "par/Schedule/FlightPlan.h"
#include "par/Schedule/PrintSchedule.h"

#include "llvm/Support/FormatVariadic.h"
#include <gtest/gtest.h>
#include <random>

using namespace mlir::par;

namespace {

Timeline replay(const PipelineSchedule &schedule, const StepTimes &times = {}) {
  llvm::Expected<Timeline> timeline = replaySchedule(schedule, times);
  if (timeline)
    return *timeline;
  ADD_FAILURE() << schedule.name << ": " << llvm::toString(timeline.takeError());
  return {};
}

PipelineSchedule build(llvm::StringRef name, PipelineShape shape) {
  llvm::Expected<PipelineSchedule> schedule = buildSchedule(name, shape);
  if (schedule)
    return *schedule;
  ADD_FAILURE() << name.str() << ": " << llvm::toString(schedule.takeError());
  return {};
}

std::string complain(const PipelineSchedule &schedule) {
  llvm::Expected<Timeline> timeline = replaySchedule(schedule, {});
  return timeline ? "" : llvm::toString(timeline.takeError());
}

/// Runs anything that can run until nothing can: whether everything has, without times and without queues.
bool runsToTheEnd(const PipelineSchedule &schedule) {
  std::vector<size_t> position(schedule.stages.size());
  std::set<std::tuple<bool, int64_t, int64_t>> done; // backward of inputs?, chunk, micro-batch
  auto isDone = [&](bool backward, int64_t chunk, int64_t microBatch) {
    return done.count({backward, chunk, microBatch}) > 0;
  };
  auto canRun = [&](const Action &action) {
    int64_t chunk = action.chunk, microBatch = action.microBatch;
    if (action.kind == ActionKind::Forward)
      return chunk == 0 || isDone(false, chunk - 1, microBatch);
    if (action.kind == ActionKind::BackwardWeight)
      return isDone(true, chunk, microBatch);
    return isDone(false, chunk, microBatch) &&
           (chunk + 1 == schedule.shape.getNumChunks() || isDone(true, chunk + 1, microBatch));
  };
  for (bool progress = true; progress;) {
    progress = false;
    for (size_t stage = 0; stage < position.size(); ++stage)
      if (position[stage] < schedule.stages[stage].size() &&
          canRun(schedule.stages[stage][position[stage]])) {
        const Action &action = schedule.stages[stage][position[stage]++];
        if (action.kind != ActionKind::BackwardWeight)
          done.insert({action.kind != ActionKind::Forward, action.chunk, action.microBatch});
        progress = true;
      }
  }
  for (size_t stage = 0; stage < position.size(); ++stage)
    if (position[stage] < schedule.stages[stage].size())
      return false;
  return true;
}

// Fewer micro-batches than stages, and counts that are no multiples, included.
TEST(Schedule, EveryShapeRunsToTheEnd) {
  for (llvm::StringRef name : getScheduleNames())
    for (int64_t stages = 1; stages <= 9; ++stages)
      for (int64_t count = 1; count <= 20; ++count)
        for (int64_t chunks = 1; chunks <= 4; ++chunks) {
          bool turns = name == "interleaved-1f1b";
          if (turns ? chunks == 1 || count % stages : chunks != getUsualChunks(name))
            continue;
          SCOPED_TRACE(llvm::formatv("{0} {1} {2} {3}", name, stages, count, chunks).str());
          PipelineSchedule schedule = build(name, {stages, count, chunks});
          Timeline timeline = replay(schedule);
          EXPECT_TRUE(runsToTheEnd(schedule));
          for (double live : timeline.peakLive)
            EXPECT_LE(live, double(count) + 1e-9);
        }
}

// What differentiation writes for a schedule, and partition keeps of it, is what its lists run.
TEST(Schedule, ListsRunTheBackwardPartsOfTheirKind) {
  for (auto [number, name] : llvm::enumerate(getScheduleNames()))
    for (int64_t stages = 2; stages <= 6; ++stages)
      for (int64_t count = stages % 2 ? stages : 1; count <= 3 * stages; count += stages) {
        if (name == "interleaved-1f1b" && count % stages)
          continue;
        SCOPED_TRACE(llvm::formatv("{0} {1} {2}", name, stages, count).str());
        std::set<ActionKind> kinds;
        for (const std::vector<Action> &list : build(name, {stages, count, getUsualChunks(name)}).stages)
          for (const Action &action : list)
            kinds.insert(action.kind);
        auto kind = static_cast<ScheduleKind>(number);
        EXPECT_EQ(kinds.count(ActionKind::Backward), joinsBackward(kind));
        EXPECT_EQ(kinds.count(ActionKind::BackwardInput), splitsBackward(kind));
        EXPECT_EQ(kinds.count(ActionKind::BackwardWeight), splitsBackward(kind));
      }
}

// M >= P micro-batches, F = B = W = 1: the formulas of the papers.
TEST(Schedule, BubblesAndMemoryAreThoseOfThePapers) {
  for (int64_t p = 1; p <= 8; ++p)
    for (int64_t m : {2 * p, 2 * p + 1, 5 * p}) {
      SCOPED_TRACE(llvm::formatv("{0} stages, {1} micro-batches", p, m).str());
      auto time = [&](llvm::StringRef name) { return replay(build(name, {p, m, 1})).end; };
      EXPECT_DOUBLE_EQ(time("gpipe"), double(3 * (m + p - 1)));
      EXPECT_DOUBLE_EQ(time("1f1b"), double(3 * (m + p - 1)));
      EXPECT_DOUBLE_EQ(time("layer-wise"), double(3 * m * p));
      EXPECT_DOUBLE_EQ(time("zb-h1"), double(3 * m + p - 1));
      EXPECT_DOUBLE_EQ(replay(build("zb-h2", {p, m, 1})).longestSpan, double(3 * m));
      for (int64_t stage = 0; stage < p; ++stage) {
        EXPECT_DOUBLE_EQ(replay(build("1f1b", {p, m, 1})).peakLive[size_t(stage)], double(p - stage));
        EXPECT_DOUBLE_EQ(replay(build("zb-h1", {p, m, 1})).peakLive[size_t(stage)], double(p));
        EXPECT_DOUBLE_EQ(replay(build("zb-h2", {p, m, 1})).peakLive[size_t(stage)], double(2 * p - 1));
      }
      if (m % p == 0)
        for (int64_t v : {2, 3, 4})
          EXPECT_NEAR(getIdleOfTotal(replay(build("interleaved-1f1b", {p, m, v}))),
                      double(p - 1) / double(v * m + p - 1), 1e-12);
    }
}

// Two chunks there and back, so a stage works 6M; zb-v has memory of 1f1b's first stage and no bubble of its
// own.
TEST(Schedule, VShapes) {
  for (int64_t p = 1; p <= 8; ++p)
    for (int64_t m : {2 * p, 2 * p + 1, 5 * p}) {
      SCOPED_TRACE(llvm::formatv("{0} stages, {1} micro-batches", p, m).str());
      PipelineSchedule zero = build("zb-v", {p, m, 2}), dual = build("dualpipe-v", {p, m, 2});
      EXPECT_EQ(zero.stageOfChunk, dual.stageOfChunk);
      EXPECT_EQ(zero.stageOfChunk.front(), 0);
      EXPECT_EQ(zero.stageOfChunk.back(), 0);
      EXPECT_DOUBLE_EQ(replay(zero).longestSpan, double(6 * m));
      EXPECT_DOUBLE_EQ(replay(zero).end, double(6 * m + p - 1));
      EXPECT_LE(replay(dual).end, double(6 * m + p));
      for (int64_t stage = 0; stage < p; ++stage) {
        EXPECT_DOUBLE_EQ(replay(zero).peakLive[size_t(stage)], double(p));
        EXPECT_LE(replay(dual).peakLive[size_t(stage)], double(p) + 0.5);
      }
    }
}

// 2401.10241, section 2.3: (p - 1)(F + B - W) of zb-h1, for any times of which F and B are no shorter than W.
TEST(Schedule, ZeroBubbleWithOtherTimes) {
  ActionTimes times{5, 4, 3, 0};
  Timeline timeline = replay(build("zb-h1", {6, 20, 1}), times);
  EXPECT_NEAR(timeline.end - timeline.work, 5 * (5 + 4 - 3), 1e-9);
}

TEST(Schedule, TransfersDelay) {
  ActionTimes times{1, 1, 1, 0.25};
  EXPECT_DOUBLE_EQ(replay(build("gpipe", {3, 1, 1}), times).end, 9 + 4 * 0.25);
  EXPECT_DOUBLE_EQ(replay(build("gpipe", {1, 3, 1}), times).end, 9); // nothing leaves the stage
}

// Whether the lists have entries for it or not.
TEST(Schedule, TransfersOccupyTheStageThatSends) {
  StepTimes times(ActionTimes{1, 1, 1, 0.25});
  times.blockingTransfers = true;
  // Stage 0 computes and sends F1 and F2, and waits for B2: 2.5 + 1 (F2) + 2 + 0.25, then works 2 + 2.
  PipelineSchedule gpipe = build("gpipe", {2, 2, 1});
  EXPECT_DOUBLE_EQ(replay(gpipe).end, 9);
  EXPECT_DOUBLE_EQ(replay(gpipe, times).end, 2.5 + 1 + 2 + 0.25 + 2 + 0.25 + 2);
  EXPECT_DOUBLE_EQ(replay(completeStep(gpipe, {}), times).end, replay(gpipe, times).end);
}

// Chunk by chunk; a stage's work is what it computes, on average.
TEST(Schedule, ChunksHaveTimesOfTheirOwn) {
  StepTimes times;
  times.chunks = {{1, 1, 1, 0.5}, {2, 3, 1, 0}};
  Timeline timeline = replay(build("1f1b", {2, 2, 1}), times);
  // F1, its transfer, F1 B1 F2 B2 of the second stage, the last gradient's transfer, B2.
  EXPECT_DOUBLE_EQ(timeline.end, 1 + 0.5 + 2 * (2 + 4) + 0.5 + 2);
  EXPECT_DOUBLE_EQ(timeline.work, (2 * 3 + 2 * 6) / 2.0);
  // Where a stage sends before it goes on: 1.5, F1, B1 and its gradient, F2, B2 and its gradient, B2.
  times.blockingTransfers = true;
  EXPECT_DOUBLE_EQ(replay(build("1f1b", {2, 2, 1}), times).end, 1.5 + 2 + 4.5 + 2 + 4.5 + 2);
}

TEST(Schedule, ChunksKeepToTheirStages) {
  PipelineSchedule schedule = build("1f1b", {2, 3, 1});
  std::swap(schedule.stages[0], schedule.stages[1]);
  EXPECT_EQ(complain(schedule), "stage 0 has F1 of chunk 1, which is on stage 1");
}

TEST(Schedule, ActionsAreThereOnce) {
  PipelineSchedule twice = build("1f1b", {2, 3, 1}), missing = twice, beyond = twice,
                   both = build("zb-h1", {2, 3, 1});
  twice.stages[0][1] = twice.stages[0][0];
  EXPECT_EQ(complain(twice), "stage 0 has F1 twice");
  missing.stages[1].pop_back();
  EXPECT_EQ(complain(missing), "chunk 1 does not go through micro-batch 3 forward and back");
  beyond.stages[1][0].microBatch = 3;
  EXPECT_EQ(complain(beyond), "stage 1 names chunk 1, micro-batch 3; there are 2 and 3");
  both.stages[1].push_back({ActionKind::Backward, 1, 2});
  EXPECT_EQ(complain(both), "stage 1 has B3 twice");
  missing.stages.pop_back();
  EXPECT_EQ(complain(missing),
            "the schedule has lists for 1 stages and places for 2 chunks, expected 2 and 2");
}

TEST(Schedule, CyclesAreNamed) {
  PipelineSchedule schedule = build("1f1b", {2, 2, 1});
  // Stage 0 wants gradients before it has sent anything on.
  schedule.stages[0] = {{ActionKind::Forward, 0, 1},
                        {ActionKind::Backward, 0, 1},
                        {ActionKind::Forward, 0, 0},
                        {ActionKind::Backward, 0, 0}};
  EXPECT_EQ(complain(schedule),
            "stages wait for each other: stage 0 is at B2 and waits for B2 of stage 1, stage 1 is "
            "at F1 and waits for F1 of stage 0");
  std::swap(schedule.stages[0][0], schedule.stages[0][1]);
  EXPECT_EQ(complain(schedule), "stages wait for each other: stage 0 is at B2 and waits for F2 of stage 0");
}

// Actions that change places: the replay finishes exactly when a plain search for runnable actions does.
TEST(Schedule, VerdictIsThatOfAPlainSearch) {
  std::mt19937 random(7);
  int stuck = 0;
  constexpr int kMutations = 10000;
  for (int i = 0; i < kMutations; ++i) {
    llvm::StringRef name = getScheduleNames()[random() % getScheduleNames().size()];
    bool turns = name == "interleaved-1f1b";
    int64_t stages = 1 + int64_t(random() % 4),
            count = turns ? stages * (1 + int64_t(random() % 2)) : 1 + int64_t(random() % 6);
    PipelineSchedule schedule = build(name, {stages, count, getUsualChunks(name)});
    schedule.handsOnTogether = false; // the search knows single micro-batches only
    for (unsigned swaps = 1 + random() % 3; swaps > 0; --swaps) {
      auto &actions = schedule.stages[random() % schedule.stages.size()];
      std::swap(actions[random() % actions.size()], actions[random() % actions.size()]);
    }
    bool expected = runsToTheEnd(schedule);
    EXPECT_EQ(complain(schedule).empty(), expected) << "mutation " << i;
    stuck += !expected;
  }
  EXPECT_GT(stuck, kMutations / 10);
  EXPECT_LT(stuck, kMutations * 9 / 10);
}

std::string listOf(const PipelineSchedule &schedule, size_t stage) {
  std::string text;
  for (const Action &action : schedule.stages[stage])
    text += (text.empty() ? "" : " ") + schedule.describe(action);
  return text;
}

TEST(Step, OneStageIsEachMicroBatchForwardAndBack) {
  EXPECT_EQ(listOf(completeStep(build("1f1b", {1, 2, 1}), {}), 0), "F1 B1 F2 B2 R N U");
  EXPECT_EQ(listOf(completeStep(build("zb-h1", {1, 2, 1}), {}), 0), "F1 B1 W1 F2 B2 W2 R N U");
  EXPECT_EQ(listOf(completeStep(build("1f1b", {1, 2, 1}), {true, true, {0}}), 0), "G F1 B1 F2 BR2 N U");
  EXPECT_EQ(listOf(completeStep(build("zb-h1", {1, 2, 1}), {false, true, {0}}), 0), "F1 B1 W1 F2 B2 WR2 N U");
}

TEST(Step, StagesSendAndReceive) {
  PipelineSchedule schedule = completeStep(build("1f1b", {2, 2, 1}), {});
  // Sends begin behind what makes them, receives an action before they are needed.
  EXPECT_EQ(listOf(schedule, 0), "F1 sF1 rB1 F2 SF1 sF2 rB2 RB1 B1 RB2 B2 SF2 R N Q U");
  EXPECT_EQ(listOf(schedule, 1), "rF1 RF1 F1 rF2 B1 sB1 RF2 F2 B2 SB1 sB2 SB2 R N Q U");
  // The chunks of a stage hand on to each other without a word, at the turn of the V.
  EXPECT_EQ(listOf(completeStep(build("zb-v", {1, 1, 2}), {}), 0).find('s'), std::string::npos);
  // All of a chunk at once.
  schedule = completeStep(build("layer-wise", {2, 2, 1}), {});
  EXPECT_EQ(listOf(schedule, 0), "F1 rB2 F2 sF1 SF1 sF2 rB1 RB2 B2 RB1 B1 SF2 R N Q U");
}

// Of every shape, and it takes as long as without what it adds.
TEST(Step, EveryShapeRunsToTheEnd) {
  for (llvm::StringRef name : getScheduleNames())
    for (int64_t stages = 1; stages <= 5; ++stages)
      for (int64_t count = stages; count <= 3 * stages; count += stages)
        for (StepParts parts : {StepParts{}, StepParts{true, true, {0, 1, 3}}, StepParts{false, false, {}}}) {
          SCOPED_TRACE(llvm::formatv("{0} {1} {2}", name, stages, count).str());
          PipelineSchedule schedule = build(name, {stages, count, getUsualChunks(name)});
          PipelineSchedule whole = completeStep(schedule, parts);
          EXPECT_NEAR(replay(whole, {1, 1, 1, 0.5}).end, replay(schedule, {1, 1, 1, 0.5}).end, 1e-9);
        }
}

// Stages that share parameters add up their gradients, each once and all in one order.
TEST(Step, TiedStagesSumGradients) {
  StepParts parts;
  parts.tied = {{0, 2}, {0, 1, 2}};
  PipelineSchedule schedule = completeStep(build("1f1b", {3, 1, 1}), parts);
  EXPECT_EQ(listOf(schedule, 0), "rB1 F1 sF1 RB1 B1 SF1 R S1 S2 N Q U");
  EXPECT_EQ(listOf(schedule, 2), "rF1 RF1 F1 B1 sB1 SB1 R S1 S2 N Q U");
  EXPECT_EQ(complain(schedule), "");
  PipelineSchedule stuck = schedule, lost = schedule, foreign = schedule;
  std::swap(stuck.stages[2][7], stuck.stages[2][8]);
  EXPECT_EQ(
      complain(stuck),
      "stages wait for each other: stage 0 is at S1 and waits for S1 of stage 2, stage 2 is at S2 and waits "
      "for S2 of stage 0");
  llvm::erase_if(lost.stages[1],
                 [](const Action &action) { return action.kind == ActionKind::SumGradients; });
  EXPECT_EQ(complain(lost),
            "stage 1 does not sum_gradients 2 with the other stages that share parameters with it");
  foreign.stages[1].push_back({ActionKind::SumGradients, 0, -1});
  EXPECT_EQ(complain(foreign), "stage 1 has S1, a sum in which it has no part");
}

// Chunks that only go forward, too.
TEST(Step, EvaluationsRunToTheEnd) {
  for (llvm::StringRef name : getScheduleNames())
    for (int64_t stages = 1; stages <= 5; ++stages)
      for (int64_t count : {1, 2, 7}) {
        PipelineSchedule any = build(name, {stages, stages, getUsualChunks(name)});
        EXPECT_EQ(complain(buildForwardOnly(ActionKind::Eval, count, any.stageOfChunk)), "");
      }
  PipelineSchedule eval = buildForwardOnly(ActionKind::Eval, 2, {0, 1});
  EXPECT_EQ(listOf(eval, 0), "E1 sF1 E2 SF1 sF2 SF2");
  EXPECT_EQ(listOf(eval, 1), "rF1 rF2 RF1 E1 RF2 E2");
}

// As many places as the schedule holds at most; nothing in flight shares one.
TEST(Flights, PlacesAreThoseOfTheSchedule) {
  PipelineSchedule schedule = completeStep(build("1f1b", {4, 32, 1}), {});
  for (size_t stage = 0; stage < 4; ++stage) {
    FlightPlan plan(schedule, stage);
    std::set<unsigned> residuals, received;
    for (int64_t microBatch = 0; microBatch < 32; ++microBatch) {
      residuals.insert(plan.getPlace(Flight::Residuals, int64_t(stage), microBatch));
      received.insert(plan.getPlace(Flight::Activation, int64_t(stage) - 1, microBatch));
    }
    EXPECT_EQ(residuals.size(), 4 - stage);
    EXPECT_EQ(received.size(), stage == 0 || stage == 3 ? 1u : 2u);
  }
}

// What the input part is done with is free before the weight part runs, and what the input part hands to it
// takes no place before.
TEST(Step, PlacesAreFreeWhenTheLastPartHasReadThem) {
  const PipelineSchedule schedule = completeStep(build("zb-h1", {4, 16, 1}), {});
  for (size_t stage = 0; stage < 4; ++stage) {
    FlightPlan plan(schedule, stage);
    std::set<unsigned> input, weight, handed;
    for (int64_t microBatch = 0; microBatch < 16; ++microBatch) {
      input.insert(plan.getPlace(Flight::Residuals, int64_t(stage), microBatch));
      weight.insert(plan.getPlace(Flight::WeightResiduals, int64_t(stage), microBatch));
      handed.insert(plan.getPlace(Flight::HandedResiduals, int64_t(stage), microBatch));
    }
    EXPECT_EQ(input.size(), 4 - stage);
    EXPECT_EQ(weight.size(), 4u);
    EXPECT_EQ(handed.size(), stage + 1);
  }
}

// What a later action reads of what came over a cut keeps its place until then, over several cuts too.
TEST(Step, ReceivedValuesKeepTheirPlaces) {
  const PipelineSchedule schedule = completeStep(build("1f1b", {4, 16, 1}), {});
  LongFlights longer;
  longer.readers.insert({ActionKind::Backward, 1, Flight::Activation, 0});
  longer.passing.insert({Flight::Activation, 2});
  auto count = [&](size_t stage, int64_t cut, const LongFlights &flights) {
    FlightPlan plan(schedule, stage, flights);
    std::set<unsigned> places;
    for (int64_t microBatch = 0; microBatch < 16; ++microBatch)
      places.insert(plan.getPlace(Flight::Activation, cut, microBatch));
    return places.size();
  };
  EXPECT_EQ(count(1, 0, {}), 2u);
  EXPECT_EQ(count(1, 0, longer), 4u); // three in flight, and one that comes
  EXPECT_GE(count(2, 1, longer), count(2, 1, {}));
}

// What a step lacks, has twice or has too early is found.
TEST(Step, FaultsAreNamed) {
  const PipelineSchedule good = completeStep(build("1f1b", {2, 2, 1}), {});
  auto without = [&](size_t stage, const char *text) {
    PipelineSchedule schedule = good;
    llvm::erase_if(schedule.stages[stage],
                   [&](const Action &action) { return good.describe(action) == text; });
    return complain(schedule);
  };
  EXPECT_EQ(without(0, "sF2"),
            "chunk 0 does not send_activation once where that is needed, in micro-batch 2");
  EXPECT_EQ(without(1, "rF1"), "chunk 1 does not receive_activation once where that is needed");
  EXPECT_EQ(without(1, "RF1"), "chunk 1 does not received_activation once where that is needed");
  EXPECT_EQ(without(1, "Q"), "stage 1 does not sum_squares with the other stages");
  EXPECT_EQ(without(1, "R"), "chunk 1 does not reduce once where that is needed");
  EXPECT_EQ(without(0, "U"), "chunk 0 does not update once where that is needed");
  EXPECT_EQ(without(0, "B2"), "chunk 0 does not go through micro-batch 2 forward and back");
  PipelineSchedule late = good;
  std::swap(late.stages[1][1], late.stages[1][2]);
  EXPECT_EQ(complain(late), "stages wait for each other: stage 1 is at F1 and waits for RF1 of stage 1");
  PipelineSchedule crossed = good;
  std::swap(crossed.stages[1][0], crossed.stages[1][3]);
  EXPECT_EQ(complain(crossed),
            "stage 1 begins rF2 where stage 0 begins sF1: messages from one stage to another "
            "are received in the order in which they are sent");
  // Both wait until what they sent has come before they begin to receive: of one message between them, the
  // other is not there yet.
  PipelineSchedule mutual = good;
  auto move = [&](size_t stage, const char *entry, const char *behind) {
    auto &list = mutual.stages[stage];
    auto find = [&](const char *text) {
      return llvm::find_if(list, [&](const Action &action) { return good.describe(action) == text; });
    };
    Action action = *find(entry);
    list.erase(find(entry));
    list.insert(std::next(find(behind)), action);
  };
  move(0, "rB1", "sF2"), move(0, "SF2", "sF2");
  move(1, "rF2", "sB1"), move(1, "SB1", "sB1");
  EXPECT_EQ(complain(mutual), "stages wait for each other: stage 0 is at SF2 and waits for rF2 of stage 1, "
                              "stage 1 is at SB1 and waits for rB1 of stage 0");
  PipelineSchedule last = completeStep(build("1f1b", {1, 3, 1}), {false, true, {0}});
  EXPECT_EQ(listOf(last, 0), "F1 B1 F2 B2 F3 BR3 N U");
  std::rotate(last.stages[0].begin() + 3, last.stages[0].begin() + 4, last.stages[0].begin() + 6);
  EXPECT_EQ(complain(last), "stages wait for each other: stage 0 is at BR3 and waits for W2 of stage 0");
  PipelineSchedule early = good;
  std::rotate(early.stages[0].begin(), early.stages[0].end() - 4, early.stages[0].end() - 3);
  EXPECT_EQ(complain(early), "stages wait for each other: stage 0 is at R and waits for W1 of stage 0");
  PipelineSchedule twice = good;
  twice.stages[0].push_back(twice.stages[0].back());
  EXPECT_EQ(complain(twice), "stage 0 has U twice");
  PipelineSchedule bare = build("1f1b", {1, 1, 1});
  bare.stages[0].push_back({ActionKind::Update, 0, -1});
  EXPECT_EQ(complain(bare), "stage 0 has U, which only the list of a whole step has");
}

/// The list of a stage as it is written, in another order: entries by their names.
PipelineSchedule withList(PipelineSchedule schedule, size_t stage, llvm::ArrayRef<const char *> names) {
  std::vector<Action> list;
  for (const char *name : names)
    list.push_back(*llvm::find_if(schedule.stages[stage],
                                  [&](const Action &action) { return schedule.describe(action) == name; }));
  EXPECT_EQ(list.size(), schedule.stages[stage].size());
  schedule.stages[stage] = list;
  return schedule;
}

// A wait names its kind alone at run time, so one that would end another message than it is named for is
// refused, at either end; so are waits for nothing.
TEST(Step, AWaitEndsTheOldest) {
  const PipelineSchedule good = completeStep(build("gpipe", {2, 2, 1}), {});
  EXPECT_EQ(listOf(good, 0), "F1 sF1 rB2 F2 SF1 sF2 rB1 RB2 B2 RB1 B1 SF2 R N Q U");
  EXPECT_EQ(complain(withList(good, 0,
                              {"F1", "sF1", "rB2", "F2", "SF1", "sF2", "rB1", "RB1", "B1", "RB2", "B2", "SF2",
                               "R", "N", "Q", "U"})),
            "stage 0 waits for RB1 where the oldest message of its kind under way is rB2: a wait ends the "
            "oldest one");
  EXPECT_EQ(complain(withList(good, 0,
                              {"F1", "sF1", "rB2", "F2", "sF2", "SF2", "SF1", "rB1", "RB2", "B2", "RB1", "B1",
                               "R", "N", "Q", "U"})),
            "stage 0 waits for SF2 where the oldest message of its kind under way is sF1: a wait ends the "
            "oldest one");
  EXPECT_EQ(complain(withList(good, 0,
                              {"F1", "SF1", "sF1", "rB2", "F2", "sF2", "rB1", "RB2", "B2", "RB1", "B1", "SF2",
                               "R", "N", "Q", "U"})),
            "stage 0 waits for SF1 where no message of its kind is under way: a wait ends the oldest one");
  // Of two kinds either may be waited for first.
  EXPECT_EQ(complain(withList(good, 0,
                              {"F1", "sF1", "rB2", "F2", "sF2", "rB1", "RB2", "SF1", "B2", "RB1", "B1", "SF2",
                               "R", "N", "Q", "U"})),
            "");
}

// As many messages are under way as the runtime has room for.
TEST(Step, NoMoreMessagesAreUnderWayThanThereIsRoomFor) {
  auto forward = [](int64_t count) {
    PipelineSchedule schedule = buildForwardOnly(ActionKind::Eval, count, {0, 1});
    // First what computes and sends, or begins to receive; then what waits, and computes with that.
    auto order = [](const Action &action) {
      std::optional<Message> message = getMessage(action);
      return message ? (message->begins() ? 0 : 1) : (action.chunk == 0 ? 0 : 2);
    };
    for (std::vector<Action> &list : schedule.stages)
      llvm::stable_sort(list, [&](const Action &a, const Action &b) { return order(a) < order(b); });
    return complain(schedule);
  };
  EXPECT_EQ(forward(1024), "");
  EXPECT_EQ(forward(1025),
            "stage 0 begins sF1025 while 1024 messages with stage 1 are under way, which is the most "
            "there may be");
}

} // namespace
