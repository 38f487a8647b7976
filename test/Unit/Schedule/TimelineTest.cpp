//===- TimelineTest.cpp - when everything in a step happens ---------------------------------------------===//
#include "par/Schedule/PrintSchedule.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>
#include <random>

using namespace mlir::par;

namespace {

PipelineSchedule build(llvm::StringRef name, PipelineShape shape, StepParts parts = {}) {
  llvm::Expected<PipelineSchedule> schedule = buildSchedule(name, shape);
  if (schedule)
    return completeStep(*schedule, std::move(parts));
  ADD_FAILURE() << name.str() << ": " << llvm::toString(schedule.takeError());
  return {};
}

Timeline replay(const PipelineSchedule &schedule, const StepTimes &times) {
  llvm::Expected<Timeline> timeline = replaySchedule(schedule, times);
  if (timeline)
    return *timeline;
  ADD_FAILURE() << schedule.name << ": " << llvm::toString(timeline.takeError());
  return {};
}

/// "F1 0-1, sF1 1-1": the entries of a stage.
std::string printStage(const PipelineSchedule &schedule, const Timeline &timeline, size_t stage) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const TimedAction &timed : timeline.stages[stage])
    os << (&timed == &timeline.stages[stage].front() ? "" : ", ") << schedule.describe(timed.action) << " "
       << int(timed.begin) << "-" << int(timed.end);
  return text;
}

/// "sF1 1-4": in the order of queues.
std::string printMessages(const PipelineSchedule &schedule, const Timeline &timeline) {
  std::string text;
  for (const TimedMessage &message : timeline.messages)
    text += (text.empty() ? "" : ", ") +
            schedule.describe(schedule.stages[message.send.stage][message.send.position]) + " " +
            std::to_string(int(message.begin)) + "-" + std::to_string(int(message.end));
  return text;
}

//===----------------------------------------------------------------------===//
// By hand
//===----------------------------------------------------------------------===//

// Two stages on one core: what they compute at once takes both twice as long, and the core never waits.
TEST(Timeline, StagesShareCores) {
  PipelineSchedule schedule = build("gpipe", {2, 2, 1});
  Timeline timeline = replay(schedule, {1, 1, 1, 0});
  EXPECT_EQ(timeline.end, 9);
  Timeline shared = timeline;
  shareCores(shared, 2);
  EXPECT_DOUBLE_EQ(shared.end, 12) << "all that both compute";
  EXPECT_DOUBLE_EQ(shared.longestSpan, 12);
  EXPECT_DOUBLE_EQ(shared.work, 9);
  auto get = [&](size_t stage, ActionKind kind, int64_t microBatch) {
    auto found = llvm::find_if(shared.stages[stage], [&](const TimedAction &timed) {
      return timed.action.kind == kind && timed.action.microBatch == microBatch;
    });
    return std::pair(found->begin, found->end);
  };
  EXPECT_EQ(get(0, ActionKind::Forward, 0), std::pair(0., 1.)) << "alone";
  EXPECT_EQ(get(0, ActionKind::Forward, 1), std::pair(1., 3.)) << "beside the other stage";
  EXPECT_EQ(get(1, ActionKind::Forward, 0), std::pair(1., 3.));
  // As many cores as ranks: nothing changes.
  Timeline alone = timeline;
  shareCores(alone, 1);
  EXPECT_DOUBLE_EQ(alone.end, 9);
  EXPECT_DOUBLE_EQ(alone.work, timeline.work);
}

// A transfer takes three forward passes: the second one stands in the queue behind the first.
TEST(Timeline, MessagesStandInTheirQueue) {
  PipelineSchedule schedule = build("gpipe", {2, 2, 1});
  Timeline timeline = replay(schedule, {1, 1, 1, 3});
  EXPECT_EQ(printMessages(schedule, timeline), "sF1 1-4, sF2 4-7, sB2 10-13, sB1 13-16");
  EXPECT_EQ(printStage(schedule, timeline, 1),
            "rF1 0-0, rF2 0-0, RF1 4-4, F1 4-5, RF2 7-7, F2 7-8, B2 8-10, sB2 10-10, B1 10-12, SB2 13-13, "
            "sB1 13-13, SB1 16-16, R 16-16, N 16-16, Q 18-18, U 18-18");
  EXPECT_EQ(timeline.end, 18);
}

// Where they occupy the stage that sends, the entry that begins a send is the transfer.
TEST(Timeline, SendsOccupyTheirStage) {
  PipelineSchedule schedule = build("gpipe", {2, 2, 1});
  StepTimes times(1, 1, 1, 3);
  times.blockingTransfers = true;
  Timeline timeline = replay(schedule, times);
  EXPECT_EQ(printMessages(schedule, timeline), "sF1 1-4, sF2 5-8, sB2 11-14, sB1 16-19");
  EXPECT_EQ(printStage(schedule, timeline, 0),
            "F1 0-1, sF1 1-4, rB2 4-4, F2 4-5, SF1 5-5, sF2 5-8, rB1 8-8, RB2 14-14, B2 14-16, RB1 19-19, "
            "B1 19-21, SF2 21-21, R 21-21, N 21-21, Q 21-21, U 21-21");
}

// What a step does once has times, too; the sums wait for all of their stages.
TEST(Timeline, EveryEntryHasItsTime) {
  StepParts parts;
  parts.gathers = true;
  parts.tied = {{0, 1}};
  PipelineSchedule schedule = build("1f1b", {2, 1, 1}, parts);
  StepTimes times;
  times.entries = {
      {{ActionKind::Gather, 0}, 2},      {{ActionKind::Gather, 1}, 9},   {{ActionKind::Forward, 0}, 3},
      {{ActionKind::Forward, 1}, 4},     {{ActionKind::Backward, 0}, 7}, {{ActionKind::Backward, 1}, 6},
      {{ActionKind::Reduce, 0}, 1},      {{ActionKind::Reduce, 1}, 5},   {{ActionKind::SumGradients, 0}, 2},
      {{ActionKind::Norm, 0}, 1},        {{ActionKind::Norm, 1}, 3},     {{ActionKind::SumSquares, 0}, 1},
      {{ActionKind::Update, 0}, 8},      {{ActionKind::Update, 1}, 2},   {{ActionKind::SendActivation, 0}, 5},
      {{ActionKind::SendGradient, 1}, 1}};
  Timeline timeline = replay(schedule, times);
  EXPECT_EQ(printStage(schedule, timeline, 0),
            "G 0-2, rB1 2-2, F1 2-5, sF1 5-5, RB1 25-25, B1 25-32, SF1 32-32, R 32-33, S1 33-35, N 35-36, "
            "Q 38-39, U 39-47");
  EXPECT_EQ(
      printStage(schedule, timeline, 1),
      "G 0-9, rF1 9-9, RF1 14-14, F1 14-18, B1 18-24, sB1 24-24, SB1 25-25, R 25-30, S1 33-35, N 35-38, "
      "Q 38-39, U 39-41");
  EXPECT_EQ(printMessages(schedule, timeline), "sF1 9-14, sB1 24-25");
  EXPECT_EQ(timeline.end, 47);
  EXPECT_EQ(timeline.work, (2 + 3 + 7 + 1 + 1 + 8 + 9 + 4 + 6 + 5 + 3 + 2) / 2.0);
}

// An event in a line, a process per stage: what a viewer and a comparison with a run read.
TEST(Timeline, TraceSaysWhichEntryAnEventIs) {
  PipelineSchedule schedule = build("1f1b", {2, 1, 1});
  std::string text;
  llvm::raw_string_ostream os(text);
  printTrace(schedule, replay(schedule, {1, 1, 1, 0.25}), 1000, os);
  llvm::Expected<llvm::json::Value> trace = llvm::json::parse(os.str());
  ASSERT_TRUE(bool(trace)) << llvm::toString(trace.takeError());
  for (const llvm::json::Value &value : *trace->getAsObject()->getArray("traceEvents")) {
    const llvm::json::Object &event = *value.getAsObject(), &args = *event.getObject("args");
    if (event.getString("ph") == "M")
      continue;
    auto stage = size_t(*args.getInteger("stage")), number = size_t(*args.getInteger("action"));
    const Action &action = schedule.stages.at(stage).at(number);
    EXPECT_EQ(event.getString("name")->str(), schedule.describe(action));
    EXPECT_EQ(event.getString("cat")->str(), stringifyActionKind(action.kind).str());
    EXPECT_EQ(event.getInteger("pid"), int64_t(stage));
    if (action.kind == ActionKind::ReceiveActivation) {
      EXPECT_EQ(event.getNumber("ts"), 1000);
      EXPECT_EQ(event.getNumber("dur"), 250);
    }
  }
}

// However long a step is beside its shortest action, a line is no wider than what it may be.
TEST(Timeline, GanttKeepsToItsWidth) {
  for (int64_t stages : {1, 4, 12})
    for (int64_t count : {12, 96}) {
      PipelineSchedule schedule = build("zb-h1", {stages, count, 1});
      std::string text;
      llvm::raw_string_ostream os(text);
      printGantt(schedule, replay(schedule, {1, 0.01, 1, 0}), os, 120);
      llvm::SmallVector<llvm::StringRef> lines;
      llvm::StringRef(text).rtrim().split(lines, '\n');
      EXPECT_EQ(int64_t(lines.size()), stages);
      for (llvm::StringRef line : lines) {
        EXPECT_LE(line.size(), 120u);
        EXPECT_EQ(line.find('|'), lines.front().find('|'));
      }
      EXPECT_GE(llvm::StringRef(text).count('F'), size_t(stages * std::min<int64_t>(count, 30)));
    }
}

//===----------------------------------------------------------------------===//
// Against a clock that ticks
//===----------------------------------------------------------------------===//

/// Runs lists of whole steps tick by tick, with times that are whole numbers: nothing is computed ahead.
class Clock {
public:
  Clock(const PipelineSchedule &schedule, const StepTimes &times)
      : schedule(schedule), times(times), stages(schedule.stages.size()) {
    for (size_t stage = 0; stage < stages.size(); ++stage)
      stages[stage].entries.resize(schedule.stages[stage].size());
  }

  /// Whether all ran to the end.
  bool run() {
    for (now = 0; now < 100000; ++now) {
      for (bool moved = true; moved;) {
        moved = false;
        for (auto &[key, queue] : queues)
          moved |= move(queue);
        for (size_t stage = 0; stage < stages.size(); ++stage)
          moved |= move(stage);
      }
      bool isBusy = false, isDone = true;
      for (auto &[key, queue] : queues)
        isBusy |= queue.until > now;
      for (size_t stage = 0; stage < stages.size(); ++stage) {
        isBusy |= stages[stage].isRunning;
        isDone &= stages[stage].position == schedule.stages[stage].size();
      }
      if (!isBusy)
        return isDone;
    }
    return false;
  }

  struct Entry {
    double begin = -1, end = -1;
  };
  struct Stage {
    size_t position = 0;
    bool isRunning = false;
    std::vector<Entry> entries;
    std::set<std::tuple<ActionKind, int64_t, int64_t>> done, landed;
  };
  struct Queue {
    std::vector<std::pair<Message, Entry>> sends;
    size_t receives = 0, begun = 0, landed = 0;
    double until = 0;
  };

  const PipelineSchedule &schedule;
  const StepTimes &times;
  std::vector<Stage> stages;
  std::map<std::pair<int64_t, int64_t>, Queue> queues;

private:
  int64_t stageOf(int64_t chunk) const { return schedule.stageOfChunk[size_t(chunk)]; }
  bool isDone(size_t stage, ActionKind kind, int64_t chunk, int64_t microBatch) const {
    return stages[stage].done.count({kind, chunk, microBatch}) > 0;
  }

  /// The one message of a queue that is under way lands, or the next one leaves.
  bool move(Queue &queue) {
    if (queue.landed < queue.begun) {
      if (queue.until > now)
        return false;
      Message message = queue.sends[queue.landed++].first;
      for (bool atSender : {true, false}) {
        Action wait = message.getAction(atSender ? MessagePart::Sent : MessagePart::Received);
        stages[size_t(stageOf(atSender ? message.from : message.to))].landed.insert(
            {wait.kind, wait.chunk, wait.microBatch});
      }
      return true;
    }
    if (queue.begun >= std::min(queue.sends.size(), queue.receives))
      return false;
    auto &[message, entry] = queue.sends[queue.begun++];
    queue.until = now;
    if (times.blockingTransfers)
      return true;
    queue.until = now + times.getTransfer(message);
    entry = {double(now), queue.until};
    return true;
  }

  bool move(size_t number) {
    Stage &stage = stages[number];
    if (stage.position == schedule.stages[number].size())
      return false;
    const Action &action = schedule.stages[number][stage.position];
    Entry &entry = stage.entries[stage.position];
    if (!stage.isRunning) {
      if (!canBegin(number, action))
        return false;
      std::optional<Message> message = getMessage(action);
      bool sends = message && message->part == MessagePart::Send && times.blockingTransfers;
      entry = {double(now), now + (sends ? times.getTransfer(*message) : times.getDuration(action))};
      stage.isRunning = true;
      return true;
    }
    if (entry.end > now)
      return false;
    stage.isRunning = false;
    ++stage.position;
    finish(number, action, entry);
    return true;
  }

  void finish(size_t stage, const Action &action, Entry entry) {
    stages[stage].done.insert({action.kind, action.chunk, action.microBatch});
    std::optional<Message> message = getMessage(action);
    if (!message || !message->begins())
      return;
    Queue &queue = queues[{stageOf(message->from), stageOf(message->to)}];
    if (message->part == MessagePart::Send)
      queue.sends.push_back({*message, entry});
    else
      ++queue.receives;
  }

  bool hasWeights(size_t stage, int64_t chunk, int64_t microBatch) const {
    for (ActionKind kind : {ActionKind::Backward, ActionKind::BackwardLast, ActionKind::BackwardWeight,
                            ActionKind::BackwardWeightLast})
      if (isDone(stage, kind, chunk, microBatch))
        return true;
    return false;
  }
  bool hasInputs(size_t stage, int64_t chunk, int64_t microBatch) const {
    return isDone(stage, ActionKind::Backward, chunk, microBatch) ||
           isDone(stage, ActionKind::BackwardLast, chunk, microBatch) ||
           isDone(stage, ActionKind::BackwardInput, chunk, microBatch);
  }
  int64_t countWeights(size_t stage, int64_t chunk) const {
    int64_t count = 0;
    for (int64_t each = 0; each < schedule.shape.microBatches; ++each)
      count += hasWeights(stage, chunk, each);
    return count;
  }
  bool isReduced(size_t stage, int64_t chunk) const {
    if (isDone(stage, ActionKind::Reduce, chunk, -1))
      return true;
    for (int64_t each = 0; each < schedule.shape.microBatches; ++each)
      if (isDone(stage, ActionKind::BackwardLast, chunk, each) ||
          isDone(stage, ActionKind::BackwardWeightLast, chunk, each))
        return true;
    return false;
  }
  bool forAllChunks(size_t stage, llvm::function_ref<bool(int64_t)> holds) const {
    for (int64_t chunk = 0; chunk < schedule.getNumChunks(); ++chunk)
      if (stageOf(chunk) == int64_t(stage) && !holds(chunk))
        return false;
    return true;
  }

  bool canGoBack(size_t stage, const Action &action) const {
    if (!isDone(stage, ActionKind::Forward, action.chunk, action.microBatch))
      return false;
    if (action.chunk + 1 == schedule.getNumChunks())
      return true;
    return stageOf(action.chunk + 1) == int64_t(stage)
               ? hasInputs(stage, action.chunk + 1, action.microBatch)
               : isDone(stage, ActionKind::ReceivedGradient, action.chunk, action.microBatch);
  }

  bool canGoForward(size_t stage, const Action &action) const {
    if (schedule.step->gathers && !isDone(stage, ActionKind::Gather, action.chunk, -1))
      return false;
    if (action.chunk == 0)
      return true;
    return stageOf(action.chunk - 1) == int64_t(stage)
               ? isDone(stage, ActionKind::Forward, action.chunk - 1, action.microBatch)
               : isDone(stage, ActionKind::ReceivedActivation, action.chunk, action.microBatch);
  }

  bool canSum(size_t stage, const Action &action) const {
    for (size_t other = 0; other < stages.size(); ++other) {
      if (action.kind == ActionKind::SumGradients &&
          !llvm::is_contained(schedule.step->tied[size_t(action.chunk)], int64_t(other)))
        continue;
      bool isThere = stages[other].position < schedule.stages[other].size() &&
                     schedule.stages[other][stages[other].position] == action;
      // Stages begin it one after the other, all in this tick.
      isThere |= isDone(other, action.kind, action.chunk, -1);
      bool isReady = action.kind == ActionKind::SumGradients
                         ? forAllChunks(other, [&](int64_t chunk) { return isReduced(other, chunk); })
                         : forAllChunks(other, [&](int64_t chunk) {
                             return isDone(other, ActionKind::Norm, chunk, -1);
                           });
      if (!isThere || !isReady)
        return false;
    }
    return true;
  }

  bool canBegin(size_t stage, const Action &action) const {
    int64_t chunk = action.chunk, count = schedule.shape.microBatches;
    switch (action.kind) {
    case ActionKind::Forward:
      return canGoForward(stage, action);
    case ActionKind::BackwardLast:
      return canGoBack(stage, action) && countWeights(stage, chunk) == count - 1;
    case ActionKind::Backward:
    case ActionKind::BackwardInput:
      return canGoBack(stage, action);
    case ActionKind::BackwardWeightLast:
      return hasInputs(stage, chunk, action.microBatch) && countWeights(stage, chunk) == count - 1;
    case ActionKind::BackwardWeight:
    case ActionKind::SendGradient:
      return hasInputs(stage, chunk, action.microBatch);
    case ActionKind::SendActivation:
      return isDone(stage, ActionKind::Forward, chunk, action.microBatch);
    case ActionKind::SentActivation:
    case ActionKind::ReceivedActivation:
    case ActionKind::SentGradient:
    case ActionKind::ReceivedGradient: {
      Message message = *getMessage(action);
      Action begins = message.getAction(message.isAtSender() ? MessagePart::Send : MessagePart::Receive);
      return isDone(stage, begins.kind, begins.chunk, begins.microBatch) &&
             stages[stage].landed.count({action.kind, chunk, action.microBatch}) > 0;
    }
    case ActionKind::Reduce:
      return countWeights(stage, chunk) == count;
    case ActionKind::Norm:
      return forAllChunks(stage, [&](int64_t each) { return isReduced(stage, each); });
    case ActionKind::Update:
      return forAllChunks(stage, [&](int64_t each) { return isDone(stage, ActionKind::Norm, each, -1); });
    case ActionKind::SumGradients:
    case ActionKind::SumSquares:
      return canSum(stage, action);
    default:
      return true;
    }
  }

  int64_t now = 0;
};

class RandomStep {
public:
  explicit RandomStep(std::mt19937 &random) : random(random) {
    llvm::StringRef name = getScheduleNames()[below(getScheduleNames().size())];
    bool turns = name == "interleaved-1f1b";
    int64_t count = 1 + below(4), each = turns ? count * (1 + below(2)) : 1 + below(5);
    PipelineShape shape{count, each, getUsualChunks(name)};
    StepParts parts;
    parts.gathers = below(2);
    for (int64_t chunk = 0; chunk < shape.getNumChunks(); ++chunk)
      if (below(4) == 0)
        parts.reducesInLast.insert(chunk);
    if (count > 1 && below(2))
      parts.tied = {{0, count - 1}};
    schedule = build(name, shape, parts);
    for (int64_t swaps = below(4); swaps > 0; --swaps) {
      auto &list = schedule.stages[size_t(below(int64_t(schedule.stages.size())))];
      auto place = size_t(below(int64_t(list.size() - 1)));
      std::swap(list[place], list[place + 1]);
    }
    times.blockingTransfers = below(2);
    for (const auto &list : schedule.stages)
      for (const Action &action : list)
        times.entries.try_emplace({action.kind, action.chunk}, double(below(7)));
  }

  PipelineSchedule schedule;
  StepTimes times;

private:
  int64_t below(int64_t limit) { return int64_t(random() % uint64_t(limit)); }
  std::mt19937 &random;
};

void expectSame(const RandomStep &step, const Clock &clock, const Timeline &timeline) {
  for (size_t stage = 0; stage < clock.stages.size(); ++stage)
    for (auto [number, timed] : llvm::enumerate(timeline.stages[stage])) {
      EXPECT_EQ(timed.begin, clock.stages[stage].entries[number].begin)
          << step.schedule.describe(timed.action) << " of stage " << stage;
      EXPECT_EQ(timed.end, clock.stages[stage].entries[number].end);
    }
  size_t next = 0;
  for (auto &[key, queue] : clock.queues)
    for (auto &[message, entry] : queue.sends) {
      const TimedMessage &other = timeline.messages.at(next++);
      EXPECT_TRUE(step.schedule.stages[other.send.stage][other.send.position] ==
                  message.getAction(MessagePart::Send));
      EXPECT_EQ(other.begin, entry.begin);
      EXPECT_EQ(other.end, entry.end);
    }
  EXPECT_EQ(next, timeline.messages.size());
}

// Lists of every kind, some with neighbours that changed places, and random times.
TEST(Timeline, IsThatOfAClockThatTicks) {
  std::mt19937 random(11);
  int ran = 0, stuck = 0;
  for (int i = 0; i < 6000 && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE("lists " + std::to_string(i));
    RandomStep step(random);
    llvm::Expected<Timeline> timeline = replaySchedule(step.schedule, step.times);
    Clock clock(step.schedule, step.times);
    bool runs = clock.run();
    if (timeline) {
      ++ran;
      ASSERT_TRUE(runs);
      expectSame(step, clock, *timeline);
      continue;
    }
    // Or messages would be received in another order than sent: nothing that times are about.
    std::string error = llvm::toString(timeline.takeError());
    if (llvm::StringRef(error).starts_with("stages wait for each other")) {
      ++stuck;
      EXPECT_FALSE(runs) << error;
    }
  }
  EXPECT_GT(ran, 2000);
  EXPECT_GT(stuck, 200);
}

} // namespace
