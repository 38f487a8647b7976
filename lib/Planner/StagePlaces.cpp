//===- StagePlaces.cpp - what a stage of a pipeline has places for --------------------------------------===//
#include "par/Planner/StagePlaces.h"
#include "par/Schedule/FlightPlan.h"

#include <array>

using namespace mlir::par;

static bool isFilledBy(Flight flight, ActionKind kind) {
  return kind == (flight == Flight::HandedResiduals ? ActionKind::BackwardInput : ActionKind::Forward);
}

/// A whole backward pass is both parts.
static bool isReadLastBy(Flight flight, ActionKind kind) {
  if (kind == ActionKind::Backward)
    return flight != Flight::HandedResiduals;
  return kind == (flight == Flight::Residuals ? ActionKind::BackwardInput : ActionKind::BackwardWeight);
}

static int64_t &count(ChunkPlaces &chunk, Flight flight) {
  return flight == Flight::Residuals         ? chunk.saved
         : flight == Flight::WeightResiduals ? chunk.savedForWeight
                                             : chunk.handed;
}

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

static constexpr Flight kSaved[] = {Flight::Residuals, Flight::WeightResiduals, Flight::HandedResiduals};

/// No chunk has more places in `now` than in `other`.
static bool isWithin(const StagePlaces &now, const StagePlaces &other) {
  return now.running == other.running && llvm::all_of(llvm::zip(now.held, other.held), [](const auto &pair) {
           auto &[mine, others] = pair;
           return mine.saved <= others.saved && mine.savedForWeight <= others.savedForWeight &&
                  mine.handed <= others.handed;
         });
}

static void addMoment(const StagePlaces &now, std::vector<StagePlaces> &moments) {
  if (llvm::any_of(moments, [&](const StagePlaces &known) { return isWithin(now, known); }))
    return;
  llvm::erase_if(moments, [&](const StagePlaces &known) { return isWithin(known, now); });
  moments.push_back(now);
}

/// In between what is in a chunk's places, other chunks cannot have them (FlightPlan.h).
std::vector<StagePlaces> mlir::par::listPlaces(llvm::ArrayRef<Action> list) {
  std::map<int64_t, std::array<Places, 3>> places; // of chunks
  for (auto [position, action] : llvm::enumerate(list)) {
    std::array<Places, 3> &chunk = places[action.chunk];
    for (auto [flight, kind] : llvm::zip(kSaved, chunk)) {
      if (isFilledBy(flight, action.kind))
        kind.take(position);
      if (isReadLastBy(flight, action.kind))
        kind.leave(position);
    }
  }
  StagePlaces now;
  std::map<int64_t, size_t> numbers; // of chunks on the stage
  std::vector<std::vector<std::pair<size_t, Flight>>> begins(list.size()), ends(list.size());
  for (auto &[chunk, kinds] : places) {
    size_t number = numbers[chunk] = now.held.size();
    now.held.push_back({chunk});
    for (auto [flight, kind] : llvm::zip(kSaved, kinds))
      for (Places::Interval interval : kind.taken) {
        begins[interval.begin].emplace_back(number, flight);
        ends[interval.end].emplace_back(number, flight);
      }
  }
  std::vector<StagePlaces> moments;
  for (auto [position, action] : llvm::enumerate(list)) {
    for (auto [chunk, flight] : begins[position])
      ++count(now.held[chunk], flight);
    now.running = numbers[action.chunk];
    addMoment(now, moments);
    for (auto [chunk, flight] : ends[position])
      --count(now.held[chunk], flight);
  }
  return moments;
}

double mlir::par::findMostBytes(llvm::ArrayRef<StagePlaces> moments, llvm::ArrayRef<ChunkTable> chunks,
                                llvm::ArrayRef<double> whole) {
  double most = 0;
  for (const StagePlaces &moment : moments) {
    double bytes = whole[moment.running];
    for (const ChunkPlaces &held : moment.held) {
      const ChunkTable &chunk = chunks[static_cast<size_t>(held.chunk)];
      bytes += static_cast<double>(held.saved) * chunk.saved +
               static_cast<double>(held.savedForWeight) * chunk.savedForWeight +
               static_cast<double>(held.handed) * chunk.handed;
    }
    most = std::max(most, bytes);
  }
  return most;
}
