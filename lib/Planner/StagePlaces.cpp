//===- StagePlaces.cpp - what a stage of a pipeline has places for --------------------------------------===//
#include "par/Planner/StagePlaces.h"
#include "par/Schedule/Messages.h"

#include <array>

using namespace mlir::par;

using Kind = ActionKind;
using Count = int32_t ChunkPlaces::*;

namespace {
/// Of actions; lists are long, and there is one for every shape of a schedule.
class Kinds {
public:
  constexpr Kinds() = default;
  constexpr Kinds(std::initializer_list<Kind> kinds) {
    for (Kind kind : kinds)
      bits |= bitOf(kind);
  }
  constexpr bool contains(Kind kind) const { return bits & bitOf(kind); }
  constexpr bool meets(Kinds other) const { return bits & other.bits; }
  constexpr void add(Kind kind) { bits |= bitOf(kind); }

private:
  static constexpr uint64_t bitOf(Kind kind) { return uint64_t(1) << static_cast<unsigned>(kind); }
  uint64_t bits = 0;
};

/// What lies from one action to another.
struct Holding {
  Count count;
  Kinds filledBy, readLastBy;
};
} // namespace

/// A whole backward pass is both parts.
static constexpr Holding kHoldings[] = {
    {&ChunkPlaces::saved, {Kind::Forward}, {Kind::Backward, Kind::BackwardInput}},
    {&ChunkPlaces::savedForWeight, {Kind::Forward}, {Kind::Backward, Kind::BackwardWeight}},
    {&ChunkPlaces::handed, {Kind::BackwardInput}, {Kind::BackwardWeight}},
    {&ChunkPlaces::inputs, {Kind::ReceiveActivation}, {Kind::Backward, Kind::BackwardInput}},
    {&ChunkPlaces::sent, {Kind::Forward}, {Kind::SentActivation}},
    {&ChunkPlaces::handedBack, {Kind::Backward, Kind::BackwardInput}, {Kind::SentGradient}},
    {&ChunkPlaces::received, {Kind::ReceiveGradient}, {Kind::Backward, Kind::BackwardInput}},
};
static constexpr size_t kHoldingCount = std::size(kHoldings);

namespace {
/// Places of a chunk for what is saved of one kind: micro-batches take the first that is free.
struct Places {
  struct Interval {
    size_t begin, end;
  };
  std::vector<Interval>
      taken; ///< positions of a list, by place: from when it is filled first until it is read last

  void take(size_t position) {
    if (++live > taken.size())
      taken.push_back({position, position});
    taken[live - 1].end = position;
  }
  void leave(size_t position) {
    for (size_t place = 0; place < live; ++place)
      taken[place].end = position;
    --live;
  }

private:
  size_t live = 0;
};
} // namespace

namespace {
/// Of a chunk.
struct Lives {
  Kinds occurring; ///< chunks that are neighbours on a stage send and receive nothing
  std::array<Places, kHoldingCount> places; ///< by what it holds

  void follow(Kind kind, size_t position) {
    for (auto [holding, held] : llvm::zip(kHoldings, places)) {
      if (!occurring.meets(holding.filledBy) || !occurring.meets(holding.readLastBy))
        continue;
      if (holding.filledBy.contains(kind))
        held.take(position);
      if (holding.readLastBy.contains(kind))
        held.leave(position);
    }
  }
};
} // namespace

namespace {
/// While a chunk of a stage runs.
struct StagePlaces {
  size_t running = 0; ///< number of that chunk on the stage
  std::vector<ChunkPlaces> held;
};
} // namespace

/// No chunk has more places in `now` than in `other`.
static bool isWithin(const StagePlaces &now, const StagePlaces &other) {
  return now.running == other.running && llvm::all_of(llvm::zip(now.held, other.held), [](const auto &pair) {
           auto &[mine, others] = pair;
           return llvm::all_of(kHoldings, [&mine = mine, &others = others](const Holding &holding) {
             return mine.*holding.count <= others.*holding.count;
           });
         });
}

static void addMoment(const StagePlaces &now, std::vector<StagePlaces> &moments) {
  if (llvm::any_of(moments, [&](const StagePlaces &known) { return isWithin(now, known); }))
    return;
  llvm::erase_if(moments, [&](const StagePlaces &known) { return isWithin(known, now); });
  moments.push_back(now);
}

/// The stage's own, of messages too.
static int64_t getChunk(const Action &action) {
  std::optional<Message> message = getMessage(action);
  if (!message)
    return action.chunk;
  return message->isAtSender() ? message->from : message->to;
}

/// In between what is in a chunk's places, other chunks cannot have them (FlightPlan.h).
static std::map<int64_t, Lives> followLives(llvm::ArrayRef<Action> list) {
  std::map<int64_t, Lives> lives;
  std::vector<Lives *> chunkOf; // of each action
  for (const Action &action : list) {
    chunkOf.push_back(&lives[getChunk(action)]);
    chunkOf.back()->occurring.add(action.kind);
  }
  for (auto [position, action] : llvm::enumerate(list))
    chunkOf[position]->follow(action.kind, position);
  return lives;
}

/// Messages that do not lie with what is saved.
static int32_t countOwnInputs(const ChunkPlaces &held) { return std::max(0, held.inputs - held.saved); }

static std::vector<ChunkPlaces> findCeiling(llvm::ArrayRef<StagePlaces> moments) {
  std::vector<ChunkPlaces> ceiling;
  for (const StagePlaces &moment : moments) {
    ceiling.resize(moment.held.size());
    for (auto [most, held] : llvm::zip(ceiling, moment.held)) {
      int32_t ownInputs = std::max(countOwnInputs(most), countOwnInputs(held));
      most.chunk = held.chunk;
      for (const Holding &holding : kHoldings)
        most.*holding.count = std::max(most.*holding.count, held.*holding.count);
      most.inputs = most.saved + ownInputs;
    }
  }
  return ceiling;
}

StageMoments mlir::par::listPlaces(llvm::ArrayRef<Action> list) {
  StagePlaces now;
  std::map<int64_t, size_t> numbers; // of chunks on the stage
  std::vector<std::vector<std::pair<size_t, Count>>> begins(list.size()), ends(list.size());
  for (auto &[chunk, lives] : followLives(list)) {
    size_t number = numbers[chunk] = now.held.size();
    now.held.push_back({static_cast<int32_t>(chunk)});
    for (auto [holding, places] : llvm::zip(kHoldings, lives.places))
      for (Places::Interval interval : places.taken) {
        begins[interval.begin].emplace_back(number, holding.count);
        ends[interval.end].emplace_back(number, holding.count);
      }
  }
  std::vector<StagePlaces> moments;
  for (auto [position, action] : llvm::enumerate(list)) {
    for (auto [chunk, count] : begins[position])
      ++(now.held[chunk].*count);
    if (!getMessage(action)) {
      now.running = numbers[action.chunk];
      addMoment(now, moments);
    }
    for (auto [chunk, count] : ends[position])
      --(now.held[chunk].*count);
  }
  StageMoments stage;
  stage.ceiling = findCeiling(moments);
  for (const StagePlaces &moment : moments) {
    stage.running.push_back(moment.running);
    llvm::append_range(stage.held, moment.held);
  }
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

double mlir::par::findMostBytes(const StageMoments &stage, const ChunkTables &chunks,
                                llvm::ArrayRef<double> whole) {
  StageTables tables = findTables(stage, chunks);
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
