//===- TraceTimeline.cpp - a timeline as a trace that Perfetto shows ------------------------------------===//
#include "par/Schedule/Messages.h"
#include "par/Schedule/PrintSchedule.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace llvm;
using namespace mlir::par;

namespace {
/// Writes one event per line; times are exact to the nanosecond.
class TraceWriter {
public:
  TraceWriter(const PipelineSchedule &schedule, const Timeline &timeline, double microseconds,
              raw_ostream &os)
      : schedule(schedule), timeline(timeline), microseconds(microseconds), rows(schedule.stages.size()),
        os(os) {}

  void run() {
    addRows();
    os << "{\"traceEvents\": [";
    for (size_t stage = 0; stage < rows.size(); ++stage)
      writeNames(stage);
    for (auto [stage, actions] : enumerate(timeline.stages))
      for (auto [number, timed] : enumerate(actions))
        if (!getMessage(timed.action))
          writeEvent({stage, number}, isSum(timed.action.kind) ? rows[stage].size() + 1 : 0, timed.begin,
                     timed.end);
    for (const TimedMessage &message : timeline.messages)
      for (ActionPlace place : {message.send, message.receive})
        writeEvent(place, getRow(place), message.begin, message.end);
    os << "\n], \"displayTimeUnit\": \"ms\"}\n";
  }

private:
  /// Of a queue of messages: with which stage, and what a stage receives behind what it sends.
  using Row = std::pair<int64_t, bool>;

  Row getQueue(ActionPlace place) const {
    Message message = *getMessage(schedule.stages[place.stage][place.position]);
    return {schedule.stageOfChunk[size_t(message.getOther())], !message.isAtSender()};
  }

  void addRows() {
    for (const TimedMessage &message : timeline.messages)
      for (ActionPlace place : {message.send, message.receive})
        rows[place.stage].insert(getQueue(place));
  }

  /// From 1: row 0 is what the stage computes.
  size_t getRow(ActionPlace place) const {
    const std::set<Row> &queues = rows[place.stage];
    return 1 + size_t(std::distance(queues.begin(), queues.find(getQueue(place))));
  }

  void writeNames(size_t stage) {
    writeName("process_name", stage, 0, "stage " + std::to_string(stage));
    writeName("thread_name", stage, 0, "actions");
    for (auto [row, queue] : enumerate(rows[stage]))
      writeName("thread_name", stage, row + 1,
                (queue.second ? "from stage " : "to stage ") + std::to_string(queue.first));
    if (any_of(schedule.stages[stage], [](const Action &action) { return isSum(action.kind); }))
      writeName("thread_name", stage, rows[stage].size() + 1, "sums over stages");
  }

  void writeName(StringRef what, size_t stage, size_t row, const std::string &name) {
    begin();
    os << formatv("{{\"name\": \"{0}\", \"ph\": \"M\", \"pid\": {1}, \"tid\": {2}, \"args\": {{\"name\": "
                  "\"{3}\"}}",
                  what, stage, row, name);
  }

  void writeEvent(ActionPlace place, size_t row, double from, double to) {
    const Action &action = schedule.stages[place.stage][place.position];
    // Ends that touch stay so, and nothing overlaps.
    int64_t begun = getNanoseconds(from), ended = getNanoseconds(to);
    begin();
    os << formatv("{{\"name\": \"{0}\", \"cat\": \"{1}\", \"ph\": \"X\", \"ts\": {2}, \"dur\": {3}, "
                  "\"pid\": {4}, \"tid\": {5}, \"args\": {{\"stage\": {4}, \"action\": {6}, \"chunk\": {7}, "
                  "\"micro_batch\": {8}, \"step\": 0}}",
                  schedule.describe(action), stringifyActionKind(action.kind), printMicroseconds(begun),
                  printMicroseconds(ended - begun), place.stage, row, place.position, action.chunk,
                  action.microBatch);
  }

  void begin() {
    os << (isFirst ? "\n" : ",\n");
    isFirst = false;
  }

  int64_t getNanoseconds(double time) const { return std::llround(time * microseconds * 1e3); }
  static std::string printMicroseconds(int64_t nanoseconds) {
    return formatv("{0}.{1}", nanoseconds / 1000, std::to_string(1000 + nanoseconds % 1000).substr(1)).str();
  }

  const PipelineSchedule &schedule;
  const Timeline &timeline;
  double microseconds;
  std::vector<std::set<Row>> rows; ///< by stage: its queues
  raw_ostream &os;
  bool isFirst = true;
};
} // namespace

void mlir::par::printTrace(const PipelineSchedule &schedule, const Timeline &timeline, double microseconds,
                           raw_ostream &os) {
  TraceWriter(schedule, timeline, microseconds, os).run();
}
