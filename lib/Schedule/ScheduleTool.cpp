//===- ScheduleTool.cpp - par-schedule: order, time and bubble of schedules -----------------------------===//
#include "par/Schedule/ScheduleTool.h"
#include "par/Schedule/PrintSchedule.h"
#include "par/Schedule/SynthesizeSchedule.h"
#include "par/Support/ErrorLine.h"
#include "par/Support/Flags.h"
#include "par/Support/MakeError.h"
#include "par/Support/OutputFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir::par;

namespace {

struct CommandLine {
  std::string schedule = "1f1b", times, memory, weightShare, timeline;
  std::optional<int64_t> stages, microBatches, chunks;
  bool table = false, json = false, step = false, blocking = false;
};

int fail(llvm::StringRef message) {
  printError(message);
  return 1;
}

Flags describe(CommandLine &line) {
  Flags flags(
      "par-schedule --stages P --micro-batches M [flags]",
      "Shows what the stages of a pipeline compute in which order, how long a step takes and how much "
      "of it a stage waits. F forward, B backward (of inputs, where W stands for weights apart); "
      "micro-batches count from 1, further chunks of a stage have letters.");
  flags.first({"stages", "micro-batches", "schedule", "chunks", "times"});
  std::vector<std::string> names;
  for (llvm::StringRef name : getNames(ScheduleKind()))
    names.push_back(name.str());
  flags.section("A schedule, and its times");
  flags.choice("schedule", names, "default: 1f1b; auto: synthesised for --times and --memory", line.schedule);
  flags.integer("stages", "P", "pipeline stages", [&line](int64_t value) { line.stages = value; });
  flags.integer("micro-batches", "M", "micro-batches of a step",
                [&line](int64_t value) { line.microBatches = value; });
  flags.integer("chunks", "V",
                "chunks of the model per stage (default: 1, of interleaved-1f1b, zb-v and dualpipe-v 2)",
                [&line](int64_t value) { line.chunks = value; });
  flags.text("times", "F,B,W,COMM[;..]",
             "times of a chunk and micro-batch: forward, gradients of inputs and of weights, and a transfer "
             "over the cut behind it; of all chunks or, with semicolons, of each (default: 1,1,1,0)",
             line.times);
  flags.toggle("blocking-transfers", "a transfer occupies the stage that sends", line.blocking);
  flags.section("A schedule that is found");
  flags.text("memory", "N[,N..]",
             "of auto: micro-batches that every stage, or each, may hold, in units of what one chunk saves "
             "(default: the number of chunks)",
             line.memory);
  flags.text("weight-share", "R",
             "of auto: how much of that is held for the gradients of weights; the rest goes with those of "
             "inputs (default: 1)",
             line.weightShare);
  flags.section("What is shown and written");
  flags.toggle("table",
               "prints bubbles, in per cent of the time, for stages up to P and micro-batches up to M",
               line.table);
  flags.toggle("step",
               "the whole step: also what stages begin to send (s) and receive (r) and wait for (S, R), and "
               "at its end reduce R, sums over stages S and Q, norm N, update U",
               line.step);
  flags.text("timeline", "FILE.json",
             "writes the whole step for Perfetto or Chrome, a unit of --times as a millisecond; - prints it",
             line.timeline);
  flags.toggle("json", "prints actions with their times, and the bubble, as JSON", line.json);
  flags.files({}, {"timeline"});
  return flags;
}

/// Of one chunk.
std::optional<ActionTimes> parseChunk(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',');
  double numbers[4] = {};
  bool good = parts.size() == 4;
  for (size_t i = 0; good && i < 4; ++i)
    good = !parts[i].getAsDouble(numbers[i]) && std::isfinite(numbers[i]) && numbers[i] >= 0;
  if (!good || numbers[0] <= 0 || numbers[1] <= 0)
    return std::nullopt;
  return ActionTimes{numbers[0], numbers[1], numbers[2], numbers[3]};
}

llvm::Expected<StepTimes> parseTimes(const CommandLine &line, int64_t chunks) {
  StepTimes times;
  times.blockingTransfers = line.blocking;
  if (line.times.empty())
    return times;
  times.chunks.clear();
  llvm::SmallVector<llvm::StringRef> entries;
  llvm::StringRef(line.times).split(entries, ';');
  for (llvm::StringRef entry : entries)
    if (std::optional<ActionTimes> chunk = parseChunk(entry))
      times.chunks.push_back(*chunk);
    else
      return makeError("--times is '" + line.times +
                       "', expected four numbers F,B,W,COMM, of which F and B are positive");
  if (times.chunks.size() == 1 || (int64_t(times.chunks.size()) == chunks && !line.table))
    return times;
  return makeError("--times is '" + line.times + "', expected " +
                   (line.table ? "one entry, since the table is of several shapes"
                               : "one entry, or one for each of the " + std::to_string(chunks) + " chunks"));
}

llvm::Expected<ScheduleMemory> parseMemory(const CommandLine &line) {
  ScheduleMemory memory;
  if (!line.weightShare.empty() && (llvm::StringRef(line.weightShare).getAsDouble(memory.weightShare) ||
                                    !(memory.weightShare >= 0 && memory.weightShare <= 1)))
    return makeError("--weight-share is '" + line.weightShare + "', expected a number from 0 to 1");
  llvm::SmallVector<llvm::StringRef> parts;
  if (!line.memory.empty())
    llvm::StringRef(line.memory).split(parts, ',');
  for (llvm::StringRef part : parts) {
    double limit = 0;
    if (part.getAsDouble(limit) || !std::isfinite(limit) || limit <= 0)
      return makeError("--memory is '" + line.memory + "', expected positive numbers");
    memory.limits.push_back(limit);
  }
  return memory;
}

llvm::Expected<PipelineSchedule> build(const CommandLine &line, PipelineShape shape, const StepTimes &times) {
  if (line.schedule != kAutoSchedule)
    return buildSchedule(line.schedule, shape);
  llvm::Expected<ScheduleMemory> memory = parseMemory(line);
  return memory ? synthesizeSchedule(shape, times, *memory) : memory.takeError();
}

/// Powers of two, and the last number itself.
std::vector<int64_t> upTo(int64_t first, int64_t last) {
  std::vector<int64_t> numbers;
  for (int64_t number = first; number < last; number *= 2)
    numbers.push_back(number);
  numbers.push_back(last);
  return numbers;
}

int printTable(const CommandLine &line, PipelineShape shape, const StepTimes &times, llvm::raw_ostream &os) {
  std::vector<int64_t> columns = upTo(1, shape.microBatches);
  os << llvm::formatv("{0}, bubble in % of the time\n{1,6}", line.schedule, "P \\ M");
  for (int64_t microBatches : columns)
    os << llvm::formatv("{0,7}", microBatches);
  os << "\n";
  for (int64_t stages : upTo(1, shape.stages)) {
    os << llvm::formatv("{0,6}", stages);
    for (int64_t microBatches : columns) {
      auto schedule = buildSchedule(line.schedule, {stages, microBatches, shape.chunksPerStage});
      if (!schedule) {
        llvm::consumeError(schedule.takeError()); // no such shape: an empty cell
        os << llvm::formatv("{0,7}", "-");
        continue;
      }
      llvm::Expected<Timeline> timeline = replaySchedule(*schedule, times);
      if (!timeline)
        return fail(llvm::toString(timeline.takeError()));
      os << llvm::formatv("{0,7:f1}", 100 * getIdleOfTotal(*timeline));
    }
    os << "\n";
  }
  return 0;
}

/// Of the whole step. `-` is printed in place of all else.
int writeTimeline(const CommandLine &line, PipelineSchedule schedule, const StepTimes &times) {
  if (!schedule.step)
    schedule = completeStep(std::move(schedule), {});
  llvm::Expected<Timeline> timeline = replaySchedule(schedule, times);
  if (!timeline)
    return fail(line.schedule + ": " + llvm::toString(timeline.takeError()));
  std::string text;
  llvm::raw_string_ostream stream(text);
  printTrace(schedule, *timeline, /*microseconds=*/1e3, stream);
  if (llvm::Error error = writeOutput(line.timeline, text))
    return fail("--timeline: " + llvm::toString(std::move(error)));
  return 0;
}

int print(const CommandLine &line, PipelineShape shape, const StepTimes &times, llvm::raw_ostream &os) {
  llvm::Expected<PipelineSchedule> schedule = build(line, shape, times);
  if (!schedule)
    return fail("--schedule " + line.schedule + ": " + llvm::toString(schedule.takeError()));
  if (line.table)
    return printTable(line, shape, times, os);
  if (line.step)
    *schedule = completeStep(std::move(*schedule), {});
  llvm::Expected<Timeline> timeline = replaySchedule(*schedule, times);
  if (!timeline)
    return fail(line.schedule + ": " + llvm::toString(timeline.takeError()));
  if (!line.timeline.empty())
    if (int code = writeTimeline(line, *schedule, times); code || line.timeline == "-")
      return code;
  if (line.json) {
    os << llvm::formatv("{0:2}\n", llvm::json::Value(toJson(*schedule, *timeline)));
    return 0;
  }
  printSummary(*schedule, *timeline, os);
  printOrder(*schedule, os);
  printGantt(*schedule, *timeline, os);
  return 0;
}

int run(const CommandLine &line) {
  if (!line.stages || !line.microBatches)
    return fail("give --stages P and --micro-batches M (par-schedule --help)");
  bool isAuto = line.schedule == kAutoSchedule;
  for (auto [flag, value] : {std::pair{"--memory", &line.memory}, {"--weight-share", &line.weightShare}})
    if (!isAuto && !value->empty())
      return fail(std::string(flag) + " is of --schedule auto, but the schedule is " + line.schedule +
                  "; leave it out");
  if (isAuto && line.table)
    return fail("--table shows the schedules with names; leave out --table or --schedule auto");
  if (line.table && (line.json || line.step || !line.timeline.empty()))
    return fail("--table and --" +
                std::string(line.json   ? "json"
                            : line.step ? "step"
                                        : "timeline") +
                " exclude each other; give one");
  int64_t chunks = line.chunks.value_or(getUsualChunks(line.schedule));
  llvm::Expected<StepTimes> times = parseTimes(line, *line.stages * chunks);
  if (!times)
    return fail(llvm::toString(times.takeError()));
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (int code = print(line, {*line.stages, *line.microBatches, chunks}, *times, stream))
    return code;
  llvm::outs() << text;
  return finishOutput(0);
}

} // namespace

int mlir::par::runScheduleTool(int argc, char **argv) {
  CommandLine line;
  Flags flags = describe(line);
  if (std::optional<int> status = flags.take(argc, argv))
    return *status;
  return run(line);
}
