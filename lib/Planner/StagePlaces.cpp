//===- StagePlaces.cpp - what a stage of a pipeline has places for
//----------------------------------------===//
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

/// For each chunk of a stage the moment at which most places are taken while it runs. In between what is in
/// them, other chunks cannot have them (FlightPlan.h).
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
  std::vector<StagePlaces> moments(now.held.size());
  std::vector<int64_t> most(now.held.size(), 0);
  int64_t taken = 0;
  for (auto [position, action] : llvm::enumerate(list)) {
    for (auto [chunk, flight] : begins[position])
      ++count(now.held[chunk], flight), ++taken;
    now.running = numbers[action.chunk];
    if (taken > most[now.running]) {
      most[now.running] = taken;
      moments[now.running] = now;
    }
    for (auto [chunk, flight] : ends[position])
      --count(now.held[chunk], flight), --taken;
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
