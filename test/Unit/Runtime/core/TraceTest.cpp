// What a rank did when: --trace.
#include "core/TraceFile.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace par::rt;
using nlohmann::json;

namespace {

Program programOf(int stage, std::vector<Action> actions) {
  Program program;
  program.ranks = {{0, {stage}}};
  program.actions = std::move(actions);
  program.messages = {{true, 1 - stage, {8}, "activation of chunk 0", 1},
                      {false, 1 - stage, {8}, "gradient of chunk 1", 1}};
  program.collectives.resize(1);
  program.collectives[0].members.axes = {0};
  return program;
}

Manifest pipeline() {
  Manifest manifest;
  manifest.worldSize = 2;
  manifest.mesh = {{"pp", 2}};
  manifest.axes = {{"pp", 2, "pp"}};
  manifest.programs = {programOf(0, {{"eval", 0, 0},
                                     {"forward", 0, 0},
                                     {"send_activation", 0, 0},
                                     {"sent_activation", 0, 0},
                                     {"sum_gradients", 0, -1},
                                     {"update", 0, -1}}),
                       programOf(1, {{"forward", 1, 0}, {"update", 1, -1}})};
  return manifest;
}

/// A step of stage 0, whose training begins with its second action.
void runStep(Trace &trace, int64_t step) {
  trace.beginStep(step);
  trace.enter(1);
  trace.startCollective(0);
  trace.endCollective(0);
  trace.enter(2);
  trace.startMessage(0);
  trace.enter(3);
  trace.endMessage(0, std::chrono::steady_clock::now());
  trace.enter(4);
  trace.enter(5);
  trace.endStep();
}

std::vector<json> eventsOf(const Manifest &manifest, const std::vector<RankTrace> &ranks) {
  std::vector<json> events;
  json trace = json::parse(traceText(manifest, ranks));
  for (const json &event : trace["traceEvents"])
    if (event["ph"] == "X")
      events.push_back(event);
  return events;
}

} // namespace

TEST(Trace, EventsHaveTheNumbersOfTheirSchedule) {
  Manifest manifest = pipeline();
  Trace trace(manifest.programs[0]);
  runStep(trace, 7);
  std::vector<json> events = eventsOf(manifest, {{trace.events(), 0}, {}});
  std::vector<std::string> shown;
  for (const json &event : events) {
    const json &place = event["args"];
    shown.push_back(event["name"].get<std::string>() + " " + event["cat"].get<std::string>() + " " +
                    std::to_string(event["tid"].get<int>()) + " " +
                    std::to_string(place["action"].get<int>()));
    EXPECT_EQ(place["step"], 7);
    EXPECT_EQ(place["stage"], 0);
    EXPECT_EQ(event["pid"], 0);
    EXPECT_GE(event["dur"].get<double>(), 0);
  }
  EXPECT_EQ(shown, (std::vector<std::string>{"F1 forward 0 0", "all_reduce pp collective 3 0",
                                             "sF1 send_activation 1 1", "SF1 wait 0 2",
                                             "S1 sum_gradients 3 3", "U update 0 4"}));
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events[0]["ts"], 0.0);
  EXPECT_EQ(events.back()["args"]["micro_batch"], -1);
}

/// An action ends where the next one begins; what has not ended is left out.
TEST(Trace, ActionsFollowEachOther) {
  Manifest manifest = pipeline();
  Trace trace(manifest.programs[0]);
  trace.beginStep(1);
  trace.enter(1);
  trace.enter(2);
  trace.startMessage(0);
  std::vector<TraceEvent> events = trace.events();
  ASSERT_EQ(events.size(), 1u);
  trace.endStep();
  events = trace.events();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].end, events[1].begin);
}

/// The last ones are kept, and the rest is counted; what ends when its place has another event is not written
/// there.
TEST(Trace, ARingKeepsTheLastEvents) {
  Manifest manifest = pipeline();
  Trace trace(manifest.programs[0], 10);
  for (int64_t step = 1; step <= 5; ++step)
    runStep(trace, step);
  EXPECT_EQ(trace.lost(), 5u * 7 - 10);
  std::vector<TraceEvent> events = trace.events();
  ASSERT_EQ(events.size(), 10u);
  for (size_t i = 1; i < events.size(); ++i)
    EXPECT_LE(events[i - 1].begin, events[i].begin);
  EXPECT_EQ(events.back().step, 5);
  std::string note = noteLost("t.json", {{events, 0}, {events, 3}});
  EXPECT_EQ(note, "note: t.json has the last 65536 events of a rank; of rank 1 3 earlier ones had no room\n");
  EXPECT_EQ(noteLost("t.json", {{events, 0}}), "");
}

/// A message that is under way for longer than the ring reaches.
TEST(Trace, AnEndDoesNotOverwriteWhatCameLater) {
  Manifest manifest = pipeline();
  Trace trace(manifest.programs[0], 4);
  trace.beginStep(1);
  trace.enter(2);
  trace.startMessage(0);
  for (int i = 0; i < 6; ++i)
    trace.enter(1);
  std::vector<TraceEvent> before = trace.events();
  trace.endMessage(0, std::chrono::steady_clock::now() + std::chrono::hours(1));
  std::vector<TraceEvent> after = trace.events();
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); ++i)
    EXPECT_EQ(before[i].end, after[i].end);
}
