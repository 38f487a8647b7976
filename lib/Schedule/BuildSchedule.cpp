//===- BuildSchedule.cpp - the schedules that have names ------------------------------------------------===//
#include "BuildSchedule.h"
#include "par/Support/MakeError.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace mlir::par {

namespace {
/// The order of one direction, to be taken one by one.
class Queue {
public:
  explicit Queue(Actions actions) : actions(std::move(actions)) {}
  bool empty() const { return next == actions.size(); }
  Action take() { return actions[next++]; }

private:
  Actions actions;
  size_t next = 0;
};
} // namespace

/// Micro-batches 0 … M-1 of one chunk.
static Actions allMicroBatches(ActionKind kind, int64_t chunk, int64_t count) {
  Actions actions;
  for (int64_t microBatch = 0; microBatch < count; ++microBatch)
    actions.push_back({kind, chunk, microBatch});
  return actions;
}

static Actions buildGPipe(PipelineShape shape, int64_t stage) {
  Actions actions = allMicroBatches(ActionKind::Forward, stage, shape.microBatches);
  Actions backward = allMicroBatches(ActionKind::Backward, stage, shape.microBatches);
  actions.insert(actions.end(), backward.rbegin(), backward.rend());
  return actions;
}

/// Forward actions of a stage in groups of as many micro-batches as there are stages, chunk after chunk; so a
/// stage goes on with its next chunk when the first micro-batch has been through all stages. Backward the
/// same with chunks in reverse order.
static Actions buildGroups(PipelineShape shape, int64_t stage, ActionKind kind) {
  Actions actions;
  for (int64_t begin = 0; begin < shape.microBatches; begin += shape.stages)
    for (int64_t i = 0; i < shape.chunksPerStage; ++i) {
      int64_t turn = kind == ActionKind::Forward ? i : shape.chunksPerStage - 1 - i;
      int64_t end = std::min(begin + shape.stages, shape.microBatches);
      for (int64_t microBatch = begin; microBatch < end; ++microBatch)
        actions.push_back({kind, turn * shape.stages + stage, microBatch});
    }
  return actions;
}

/// `ahead` forward actions, then one backward and one forward in turns.
static Actions alternate(Queue forward, Queue backward, int64_t ahead) {
  Actions actions;
  for (; ahead > 0 && !forward.empty(); --ahead)
    actions.push_back(forward.take());
  while (!backward.empty()) {
    actions.push_back(backward.take());
    if (!forward.empty())
      actions.push_back(forward.take());
  }
  return actions;
}

static Actions buildOneForwardOneBackward(PipelineShape shape, int64_t stage) {
  // As many as have been through the stages behind when the first gradient comes back; with several chunks
  // forward has to go round all but the last time first, and gradients come from twice as far.
  int64_t behind = shape.stages - 1 - stage, turns = shape.chunksPerStage - 1;
  int64_t ahead = turns == 0 ? behind + 1 : 2 * behind + turns * shape.stages + 1;
  return alternate(Queue(buildGroups(shape, stage, ActionKind::Forward)),
                   Queue(buildGroups(shape, stage, ActionKind::Backward)), ahead);
}

/// `ahead` forward actions, then per micro-batch gradients of the input, of the weights of the micro-batch
/// `late` before it, and one forward. What is late fills the end, where 1f1b waits for gradients.
static Actions buildSplit(PipelineShape shape, int64_t stage, int64_t ahead, int64_t late) {
  Queue forward(allMicroBatches(ActionKind::Forward, stage, shape.microBatches)),
      weights(allMicroBatches(ActionKind::BackwardWeight, stage, shape.microBatches));
  Actions actions;
  for (; ahead > 0 && !forward.empty(); --ahead)
    actions.push_back(forward.take());
  for (int64_t microBatch = 0; microBatch < shape.microBatches; ++microBatch) {
    actions.push_back({ActionKind::BackwardInput, stage, microBatch});
    if (microBatch >= late)
      actions.push_back(weights.take());
    if (!forward.empty())
      actions.push_back(forward.take());
  }
  while (!weights.empty())
    actions.push_back(weights.take());
  return actions;
}

namespace {
/// Chunks of a stage.
enum class Chunks {
  One,
  InTurns, ///< several: chunk c on stage c mod P
  There    ///< two, there and back: c on stage c, then on 2P - 1 - c
};

struct NamedSchedule {
  Chunks chunks;
  bool handsOnTogether;
  Actions (*build)(PipelineShape shape, int64_t stage);
};
} // namespace

/// In the order of ScheduleKind.
static constexpr StringLiteral kNames[] = {"gpipe", "1f1b",       "interleaved-1f1b", "zb-h1",      "zb-h2",
                                           "zb-v",  "dualpipe-v", "layer-wise",       kAutoSchedule};
static const NamedSchedule kSchedules[] = {
    {Chunks::One, false, buildGPipe},
    {Chunks::One, false, buildOneForwardOneBackward},
    {Chunks::InTurns, false, buildOneForwardOneBackward},
    // Every stage holds P micro-batches: P - s of forward, s whose weights are late.
    {Chunks::One, false,
     [](PipelineShape shape, int64_t stage) {
       return buildSplit(shape, stage, shape.stages - stage, stage);
     }},
    // Enough forward to reach the last stage and come back, 2(P - s) - 1, and 2s late.
    {Chunks::One, false,
     [](PipelineShape shape, int64_t stage) {
       return buildSplit(shape, stage, 2 * (shape.stages - stage) - 1, 2 * stage);
     }},
    {Chunks::There, false, buildZeroBubbleV},
    {Chunks::There, false, buildDualPipeV},
    {Chunks::One, true, buildGPipe},
};

bool splitsBackward(ScheduleKind kind) {
  return is_contained({ScheduleKind::ZbH1, ScheduleKind::ZbH2, ScheduleKind::ZbV, ScheduleKind::DualPipeV,
                       ScheduleKind::Auto},
                      kind);
}

bool joinsBackward(ScheduleKind kind) { return !splitsBackward(kind) || kind == ScheduleKind::DualPipeV; }

ArrayRef<StringLiteral> getNames(ScheduleKind) { return kNames; }
ArrayRef<StringLiteral> getScheduleNames() { return ArrayRef(kNames).take_front(std::size(kSchedules)); }

/// Null if no schedule has the name.
static const NamedSchedule *findSchedule(StringRef name) {
  size_t number = size_t(find(getScheduleNames(), name) - getScheduleNames().begin());
  return number < std::size(kSchedules) ? &kSchedules[number] : nullptr;
}

Error checkCounts(PipelineShape shape) {
  constexpr int64_t most = 1 << 20;
  for (auto [what, count] : {std::pair<StringRef, int64_t>{"stages", shape.stages},
                             {"micro-batches", shape.microBatches},
                             {"chunks per stage", shape.chunksPerStage}})
    if (count < 1 || count > most)
      return makeError(Twine(count) + " " + what + ", expected 1 to " + Twine(most));
  if (shape.stages * shape.chunksPerStage > most || shape.getNumChunks() * shape.microBatches > 32 * most)
    return makeError(Twine(shape.stages) + " stages of " + Twine(shape.chunksPerStage) + " chunks and " +
                     Twine(shape.microBatches) + " micro-batches are more than " + Twine(32 * most) +
                     " actions");
  return Error::success();
}

static Error checkShape(StringRef name, const NamedSchedule &named, PipelineShape shape) {
  if (Error error = checkCounts(shape))
    return error;
  if (named.chunks == Chunks::There && shape.chunksPerStage != 2)
    return makeError(name + " has 2 chunks per stage, not " + Twine(shape.chunksPerStage));
  if (named.chunks == Chunks::InTurns && shape.chunksPerStage < 2)
    return makeError(name + " needs at least 2 chunks per stage; with 1 it is 1f1b");
  if (named.chunks == Chunks::One && shape.chunksPerStage != 1)
    return makeError(name + " has 1 chunk per stage, not " + Twine(shape.chunksPerStage) +
                     "; several take interleaved-1f1b");
  if (named.chunks == Chunks::InTurns && shape.microBatches % shape.stages)
    return makeError(name + " needs micro-batches in whole groups of as many as there are stages: " +
                     Twine(shape.microBatches) + " is no multiple of " + Twine(shape.stages));
  return Error::success();
}

int64_t getUsualChunks(StringRef name) {
  const NamedSchedule *named = findSchedule(name);
  return !named || named->chunks == Chunks::One ? 1 : 2;
}

std::vector<int64_t> placeChunks(PipelineShape shape, bool thereAndBack) {
  std::vector<int64_t> stageOfChunk;
  int64_t chunks = shape.getNumChunks();
  for (int64_t chunk = 0; chunk < chunks; ++chunk)
    stageOfChunk.push_back(thereAndBack ? std::min(chunk, chunks - 1 - chunk) : chunk % shape.stages);
  return stageOfChunk;
}

static Expected<const NamedSchedule *> findChecked(StringRef name, PipelineShape shape) {
  const NamedSchedule *named = findSchedule(name);
  if (!named)
    return makeError("no schedule is called '" + name + "'; expected " + join(getScheduleNames(), ", "));
  if (Error error = checkShape(name, *named, shape))
    return std::move(error);
  return named;
}

Expected<std::vector<int64_t>> placeChunksOf(StringRef name, PipelineShape shape) {
  if (name == kAutoSchedule) {
    if (Error error = checkCounts(shape))
      return std::move(error);
    return placeChunks(shape, shape.chunksPerStage == 2);
  }
  Expected<const NamedSchedule *> named = findChecked(name, shape);
  return named ? placeChunks(shape, (*named)->chunks == Chunks::There)
               : Expected<std::vector<int64_t>>(named.takeError());
}

Expected<PipelineSchedule> buildSchedule(StringRef name, PipelineShape shape) {
  Expected<const NamedSchedule *> found = findChecked(name, shape);
  if (!found)
    return found.takeError();
  const NamedSchedule *named = *found;
  PipelineSchedule schedule;
  schedule.name = name.str();
  schedule.shape = shape;
  schedule.handsOnTogether = named->handsOnTogether;
  schedule.stageOfChunk = placeChunks(shape, named->chunks == Chunks::There);
  for (int64_t stage = 0; stage < shape.stages; ++stage)
    schedule.stages.push_back(named->build(shape, stage));
  return schedule;
}

} // namespace mlir::par
