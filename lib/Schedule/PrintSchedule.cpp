//===- PrintSchedule.cpp - schedules to look at ---------------------------------------------------------===//
#include "par/Schedule/PrintSchedule.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace llvm;

namespace mlir::par {

/// The runtime's traces have the same.
static StringRef getLetters(ActionKind kind) {
  switch (kind) {
#define PAR_ACTION(symbol, name, letters)                                                                    \
  case ActionKind::symbol:                                                                                   \
    return letters;
#include "par/Actions.def"
  }
  llvm_unreachable("unknown action");
}

std::string PipelineSchedule::describe(const Action &action) const {
  std::string text = getLetters(action.kind).str();
  if (action.kind == ActionKind::SumGradients)
    text += std::to_string(action.chunk + 1);
  if (isSum(action.kind))
    return text;
  if (action.microBatch >= 0)
    text += std::to_string(action.microBatch + 1);
  if (shape.chunksPerStage == 1 || action.chunk < 0 || action.chunk >= int64_t(stageOfChunk.size()))
    return text;
  auto place = stageOfChunk.begin() + action.chunk;
  int64_t turn = std::count(stageOfChunk.begin(), place, *place);
  return turn < 26 ? text + char('a' + turn) : text + "." + std::to_string(turn + 1);
}

double getIdleOfTotal(const Timeline &timeline) { return 1 - timeline.work / timeline.end; }
double getIdleOfIdeal(const Timeline &timeline) { return timeline.end / timeline.work - 1; }
double getIdleOfLongest(const Timeline &timeline) { return 1 - timeline.work / timeline.longestSpan; }

static double getShortest(const Timeline &timeline) {
  double shortest = timeline.end;
  for (const auto &actions : timeline.stages)
    for (const TimedAction &timed : actions)
      if (timed.end > timed.begin)
        shortest = std::min(shortest, timed.end - timed.begin);
  return shortest;
}

void printOrder(const PipelineSchedule &schedule, raw_ostream &os) {
  for (auto [stage, actions] : enumerate(schedule.stages)) {
    os << "stage " << stage << ":";
    for (const Action &action : actions)
      os << " " << schedule.describe(action);
    os << "\n";
  }
}

/// What stands for an action in so many columns: its name, with a gap behind it where there is place.
static std::string printBlock(StringRef name, size_t width) {
  if (width == 0)
    return "";
  std::string text = name.str();
  text.resize(std::max(text.size(), width - 1), '-');
  return text.size() < width ? text + ' ' : text;
}

void printGantt(const PipelineSchedule &schedule, const Timeline &timeline, raw_ostream &os, size_t columns) {
  size_t label = 0;
  for (const auto &actions : timeline.stages)
    for (const TimedAction &timed : actions)
      if (timed.end > timed.begin)
        label = std::max(label, schedule.describe(timed.action).size());
  double scale = double(label + 1) / getShortest(timeline);
  size_t head = std::to_string(timeline.stages.size() - 1).size();
  if (scale * timeline.end > double(columns - head - 2))
    scale = double(columns - head - 2) / timeline.end;
  auto getColumn = [scale](double time) { return size_t(std::lround(time * scale)); };
  // All micro-batches have their numbers, or none has.
  bool fits = all_of(timeline.stages, [&](const auto &actions) {
    return all_of(actions, [&](const TimedAction &timed) {
      return timed.action.microBatch < 0 || timed.end <= timed.begin ||
             schedule.describe(timed.action).size() < getColumn(timed.end) - getColumn(timed.begin);
    });
  });
  for (auto [stage, actions] : enumerate(timeline.stages)) {
    std::string row;
    for (const TimedAction &timed : actions) {
      size_t begin = getColumn(timed.begin), width = getColumn(timed.end) - begin;
      std::string name = schedule.describe(timed.action);
      bool isNamed = timed.action.microBatch < 0 ? name.size() < width : fits;
      row.resize(std::max(row.size(), begin), ' ');
      row += printBlock(isNamed ? StringRef(name) : StringRef(name).take_front(1), width);
    }
    os << right_justify(std::to_string(stage), unsigned(head)) << " |" << StringRef(row).rtrim() << "\n";
  }
}

/// "{1,5} {2,6}": the chunks of every stage, from 1.
static std::string describePlaces(const PipelineSchedule &schedule) {
  std::vector<std::string> places(schedule.stages.size());
  for (auto [chunk, stage] : enumerate(schedule.stageOfChunk)) {
    std::string &place = places[size_t(stage)];
    place += (place.empty() ? "{" : ",") + std::to_string(chunk + 1);
  }
  std::string text;
  for (const std::string &place : places)
    text += " " + place + "}";
  return text;
}

void printSummary(const PipelineSchedule &schedule, const Timeline &timeline, raw_ostream &os) {
  os << formatv("{0}: {1} stages, {2} micro-batches, {3} chunks per stage\n", schedule.name,
                schedule.shape.stages, schedule.shape.microBatches, schedule.shape.chunksPerStage);
  os << formatv("time {0:f2}, of which a stage works {1:f2}; bubble {2:f1} % of the time, {3:f1} % of the "
                "work, {4:f1} % "
                "of the longest stage\n",
                timeline.end, timeline.work, 100 * getIdleOfTotal(timeline), 100 * getIdleOfIdeal(timeline),
                100 * getIdleOfLongest(timeline));
  if (schedule.shape.chunksPerStage > 1)
    os << "chunks of the stages:" << describePlaces(schedule) << "\n";
  os << "micro-batches held at most:";
  for (double live : timeline.peakLive)
    os << " " << formatv("{0:f2}", live).str();
  os << "\n";
}

json::Object toJson(const PipelineSchedule &schedule, const Timeline &timeline) {
  json::Array stages;
  for (const auto &actions : timeline.stages) {
    json::Array list;
    for (const TimedAction &timed : actions)
      list.push_back(json::Object{{"kind", stringifyActionKind(timed.action.kind)},
                                  {"chunk", timed.action.chunk},
                                  {"micro_batch", timed.action.microBatch},
                                  {"begin", timed.begin},
                                  {"end", timed.end}});
    stages.push_back(std::move(list));
  }
  return json::Object{{"schedule", schedule.name},
                      {"stages", std::move(stages)},
                      {"stage_of_chunk", json::Array(schedule.stageOfChunk)},
                      {"micro_batches", schedule.shape.microBatches},
                      {"time", timeline.end},
                      {"longest_stage", timeline.longestSpan},
                      {"work", timeline.work},
                      {"bubble_of_time", getIdleOfTotal(timeline)},
                      {"bubble_of_work", getIdleOfIdeal(timeline)},
                      {"bubble_of_longest_stage", getIdleOfLongest(timeline)},
                      {"peak_live", json::Array(timeline.peakLive)}};
}

} // namespace mlir::par
