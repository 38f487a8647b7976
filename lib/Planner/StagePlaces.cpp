//===- StagePlaces.cpp - what a stage of a pipeline has places for --------------------------------------===//
#include "par/Planner/StagePlaces.h"
#include "par/Schedule/FlightPlan.h"
#include "par/Schedule/Messages.h"

using namespace mlir::par;

using Count = int32_t ChunkPlaces::*;

static constexpr Count kCounts[] = {
    &ChunkPlaces::saved, &ChunkPlaces::savedForWeight, &ChunkPlaces::handed,  &ChunkPlaces::inputs,
    &ChunkPlaces::sent,  &ChunkPlaces::handedBack,     &ChunkPlaces::received};

namespace {
/// While a chunk of a stage runs.
struct StagePlaces {
  size_t running = 0; ///< number of that chunk on the stage
  std::vector<ChunkPlaces> held;
};

/// A place that is taken or left at a position of the list.
struct PlaceEvent {
  size_t position, chunk; ///< the latter by its number on the stage
  Count count;
};
} // namespace

/// No chunk has more places in `now` than in `other`.
static bool isWithin(const StagePlaces &now, const StagePlaces &other) {
  return now.running == other.running && llvm::all_of(llvm::zip(now.held, other.held), [](const auto &pair) {
           auto &[mine, others] = pair;
           return llvm::all_of(kCounts, [&mine = mine, &others = others](Count count) {
             return mine.*count <= others.*count;
           });
         });
}

static void addMoment(const StagePlaces &now, std::vector<StagePlaces> &moments) {
  if (llvm::any_of(moments, [&](const StagePlaces &known) { return isWithin(now, known); }))
    return;
  llvm::erase_if(moments, [&](const StagePlaces &known) { return isWithin(known, now); });
  moments.push_back(now);
}

namespace {
/// The places of one stage, by chunks that are its own.
class StageFlights {
public:
  StageFlights(const PipelineSchedule &schedule, size_t stage)
      : list(schedule.stages[stage]), stageOfChunk(schedule.stageOfChunk), stage(static_cast<int64_t>(stage)),
        crossing(schedule.stageOfChunk.size()), flights(schedule, stage, getLong()) {
    for (const Action &action : list)
      if (std::optional<Message> message = getMessage(action)) {
        Crossing &cut = crossing[static_cast<size_t>(message->getCut())];
        (message->isGradient ? cut.gradient : cut.activation) = true;
      }
  }

  /// Calls `see(chunk, count, first, last)` for every place, with positions of the list.
  template <typename See>
  void visit(See see) const {
    for (const PlaceLife &life : flights.getLives())
      if (std::optional<std::pair<int64_t, Count>> held = find(life.flight, life.chunk))
        see(held->first, held->second, life.first, life.last);
  }

private:
  /// What a chunk is handed lies until its backward pass has read it.
  LongFlights getLong() const {
    LongFlights longer;
    for (int64_t chunk = 1, chunks = static_cast<int64_t>(stageOfChunk.size()); chunk < chunks; ++chunk)
      if (stageOfChunk[static_cast<size_t>(chunk)] == stage)
        for (ActionKind kind : {ActionKind::Backward, ActionKind::BackwardInput})
          longer.readers.insert({kind, chunk, Flight::Activation, chunk - 1});
    return longer;
  }

  /// Chunks that are neighbours on a stage send and receive nothing; nor do lists without messages.
  std::optional<std::pair<int64_t, Count>> find(Flight flight, int64_t chunk) const {
    switch (flight) {
    case Flight::Residuals:
      return std::pair(chunk, &ChunkPlaces::saved);
    case Flight::WeightResiduals:
      return std::pair(chunk, &ChunkPlaces::savedForWeight);
    case Flight::HandedResiduals:
      return std::pair(chunk, &ChunkPlaces::handed);
    case Flight::Activation:
    case Flight::Gradient:
      break;
    }
    const Crossing &cut = crossing[static_cast<size_t>(chunk)];
    if (!(flight == Flight::Gradient ? cut.gradient : cut.activation))
      return std::nullopt;
    bool isBefore = stageOfChunk[static_cast<size_t>(chunk)] == stage; // of the cut
    if (flight == Flight::Activation)
      return isBefore ? std::pair(chunk, &ChunkPlaces::sent) : std::pair(chunk + 1, &ChunkPlaces::inputs);
    return isBefore ? std::pair(chunk, &ChunkPlaces::received)
                    : std::pair(chunk + 1, &ChunkPlaces::handedBack);
  }

  const std::vector<Action> &list;
  const std::vector<int64_t> &stageOfChunk;
  const int64_t stage;
  /// Messages cross a cut with activations, with gradients, or with both.
  struct Crossing {
    bool activation = false, gradient = false;
  };
  std::vector<Crossing> crossing; ///< by the chunk before the cut
  FlightPlan flights;
};
} // namespace

/// Messages that do not lie with what is saved.
static int32_t countOwnInputs(const ChunkPlaces &held) { return std::max(0, held.inputs - held.saved); }

static std::vector<ChunkPlaces> findCeiling(llvm::ArrayRef<StagePlaces> moments) {
  std::vector<ChunkPlaces> ceiling;
  for (const StagePlaces &moment : moments) {
    ceiling.resize(moment.held.size());
    for (auto [most, held] : llvm::zip(ceiling, moment.held)) {
      int32_t ownInputs = std::max(countOwnInputs(most), countOwnInputs(held));
      most.chunk = held.chunk;
      for (Count count : kCounts)
        most.*count = std::max(most.*count, held.*count);
      most.inputs = most.saved + ownInputs;
    }
  }
  return ceiling;
}

StageMoments mlir::par::listPlaces(const PipelineSchedule &schedule, size_t stageNumber) {
  const std::vector<Action> &list = schedule.stages[stageNumber];
  StagePlaces now;
  std::vector<size_t> numbers(schedule.stageOfChunk.size()); // of chunks on the stage
  for (size_t chunk = 0; chunk < schedule.stageOfChunk.size(); ++chunk)
    if (schedule.stageOfChunk[chunk] == static_cast<int64_t>(stageNumber)) {
      numbers[chunk] = now.held.size();
      now.held.push_back({static_cast<int32_t>(chunk)});
    }
  std::vector<PlaceEvent> begins, ends;
  StageFlights(schedule, stageNumber).visit([&](int64_t chunk, Count count, size_t first, size_t last) {
    begins.push_back({first, numbers[static_cast<size_t>(chunk)], count});
    ends.push_back({last, numbers[static_cast<size_t>(chunk)], count});
  });
  auto isEarlier = [](const PlaceEvent &one, const PlaceEvent &other) {
    return one.position < other.position;
  };
  llvm::sort(begins, isEarlier);
  llvm::sort(ends, isEarlier);
  std::vector<StagePlaces> moments;
  auto begin = begins.begin(), end = ends.begin();
  for (auto [position, action] : llvm::enumerate(list)) {
    for (; begin != begins.end() && begin->position == position; ++begin)
      ++(now.held[begin->chunk].*begin->count);
    if (!getMessage(action)) {
      auto chunk = static_cast<size_t>(action.chunk); // none of them for what is done once a step
      now.running = chunk < numbers.size() ? numbers[chunk] : 0;
      addMoment(now, moments);
    }
    for (; end != ends.end() && end->position == position; ++end)
      --(now.held[end->chunk].*end->count);
  }
  StageMoments stage;
  stage.ceiling = findCeiling(moments);
  for (const StagePlaces &moment : moments) {
    stage.running.push_back(moment.running);
    llvm::append_range(stage.held, moment.held);
  }
  stage.hasMessages = llvm::any_of(stage.ceiling, [](const ChunkPlaces &most) { return most.hasMessages(); });
  for (const ChunkPlaces &held : stage.held)
    stage.saved.push_back(held.saved);
  return stage;
}

int32_t mlir::par::countHeldOfAll(const StageMoments &stage) {
  size_t chunks = stage.ceiling.size();
  int32_t most = 0;
  for (size_t moment = 0; moment < stage.running.size(); ++moment) {
    llvm::ArrayRef<ChunkPlaces> held = llvm::ArrayRef(stage.held).slice(moment * chunks, chunks);
    most = std::max(
        most, llvm::min_element(held, [](auto &one, auto &other) { return one.saved < other.saved; })->saved);
  }
  return most;
}

static double getSavedBytes(const ChunkPlaces &held, const ChunkTable &chunk) {
  return static_cast<double>(held.saved) * chunk.saved +
         static_cast<double>(held.savedForWeight) * chunk.savedForWeight +
         static_cast<double>(held.handed) * chunk.handed;
}

static double getMessageBytes(const ChunkPlaces &held, const ChunkTable &chunk) {
  return static_cast<double>(countOwnInputs(held)) * chunk.input +
         static_cast<double>(held.sent) * chunk.handedOn +
         static_cast<double>(held.handedBack) * chunk.handedBack +
         static_cast<double>(held.received) * chunk.received;
}

/// Of the chunks of a stage, in their order there.
using StageTables = llvm::SmallVector<const ChunkTable *, 8>;

static StageTables findTables(const StageMoments &stage, const ChunkTables &chunks) {
  StageTables tables;
  for (const ChunkPlaces &held : stage.ceiling)
    tables.push_back(&chunks[static_cast<size_t>(held.chunk)]);
  return tables;
}

static double sumHeld(const ChunkPlaces *places, const StageTables &tables) {
  double bytes = 0;
  for (const ChunkTable *chunk : tables) {
    const ChunkPlaces &held = *places++;
    bytes += getSavedBytes(held, *chunk);
    if (held.hasMessages()) // bounds, of which there are most, leave them out
      bytes += getMessageBytes(held, *chunk);
  }
  return bytes;
}

/// The same of a stage that holds nothing else.
static double findMostSaved(const StageMoments &stage, const StageTables &tables,
                            llvm::ArrayRef<double> whole) {
  llvm::SmallVector<double, 8> saved;
  for (const ChunkTable *chunk : tables)
    saved.push_back(chunk->saved);
  const int32_t *held = stage.saved.data();
  double most = 0;
  for (size_t running : stage.running) {
    double bytes = whole[running];
    for (double each : saved)
      bytes += *held++ * each;
    most = std::max(most, bytes);
  }
  return most;
}

double mlir::par::findMostBytes(const StageMoments &stage, const ChunkTables &chunks,
                                llvm::ArrayRef<double> whole) {
  StageTables tables = findTables(stage, chunks);
  auto hasParts = [](const ChunkTable *chunk) { return chunk->savedForWeight > 0 || chunk->handed > 0; };
  if (!stage.hasMessages && llvm::none_of(tables, hasParts))
    return findMostSaved(stage, tables, whole);
  const ChunkPlaces *places = stage.held.data();
  double most = 0;
  for (size_t running : stage.running) {
    most = std::max(most, whole[running] + sumHeld(places, tables));
    places += tables.size();
  }
  return most;
}

double mlir::par::boundMostBytes(const StageMoments &stage, const ChunkTables &chunks,
                                 llvm::ArrayRef<double> whole) {
  return *llvm::max_element(whole) + sumHeld(stage.ceiling.data(), findTables(stage, chunks));
}
