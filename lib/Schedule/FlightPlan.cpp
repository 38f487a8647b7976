//===- FlightPlan.cpp - where what is in flight lies ----------------------------------------------------===//
#include "par/Schedule/FlightPlan.h"
#include "ActionProducts.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace mlir::par {

namespace {
using Key = std::tuple<Flight, int64_t, int64_t>;

/// Which of what is saved an action makes or reads.
SmallVector<Flight, 3> getSaved(ActionKind kind) {
  switch (kind) {
  case ActionKind::Forward:
    return {Flight::Residuals, Flight::WeightResiduals};
  case ActionKind::BackwardInput:
    return {Flight::Residuals, Flight::WeightResiduals, Flight::HandedResiduals};
  case ActionKind::BackwardWeight:
  case ActionKind::BackwardWeightLast:
    return {Flight::WeightResiduals, Flight::HandedResiduals};
  case ActionKind::Backward: // of a schedule that splits it for some micro-batches alone
  case ActionKind::BackwardLast:
    return {Flight::Residuals, Flight::WeightResiduals};
  default:
    return {Flight::Residuals};
  }
}

/// What an action makes, reads or moves of what is in flight.
class FlightsOfActions {
public:
  FlightsOfActions(const PipelineSchedule &schedule, const LongFlights &longer)
      : schedule(schedule), longer(longer) {}

  SmallVector<Key, 4> get(const Action &action) const {
    SmallVector<Key, 4> flights;
    if (std::optional<Message> message = getMessage(action)) {
      addCrossing(message->isGradient ? Flight::Gradient : Flight::Activation, message->getCut(),
                  message->microBatch, flights);
      return flights;
    }
    if (isPerStep(action.kind) || action.microBatch < 0)
      return flights;
    for (Flight flight : getSaved(action.kind))
      flights.push_back({flight, action.chunk, action.microBatch});
    addNeighbours(action, flights);
    for (Flight flight : {Flight::Activation, Flight::Gradient})
      for (int64_t cut : {action.chunk - 1, action.chunk})
        if (longer.readers.count({action.kind, action.chunk, flight, cut}))
          addCrossing(flight, cut, action.microBatch, flights);
    return flights;
  }

private:
  /// The weight part has what it needs of the gradient among what is saved.
  void addNeighbours(const Action &action, SmallVector<Key, 4> &flights) const {
    if (action.kind == ActionKind::BackwardWeight || action.kind == ActionKind::BackwardWeightLast)
      return;
    bool goesBack = !is_contained(getProducts(action.kind), Activation);
    Flight crossing = goesBack ? Flight::Gradient : Flight::Activation;
    if (action.chunk > 0)
      addCrossing(crossing, action.chunk - 1, action.microBatch, flights);
    if (action.chunk < schedule.getNumChunks() - 1)
      addCrossing(crossing, action.chunk, action.microBatch, flights);
  }

  /// And where it came over the cuts before. Of another stage there is nothing: its slots are not this one's.
  void addCrossing(Flight flight, int64_t cut, int64_t microBatch, SmallVector<Key, 4> &flights) const {
    flights.push_back({flight, cut, microBatch});
    if (longer.passing.count({flight, cut}))
      addCrossing(flight, flight == Flight::Gradient ? cut + 1 : cut - 1, microBatch, flights);
  }

  const PipelineSchedule &schedule;
  const LongFlights &longer;
};
} // namespace

FlightPlan::FlightPlan(const PipelineSchedule &schedule, size_t stage, const LongFlights &longer) {
  FlightsOfActions actions(schedule, longer);
  const std::vector<Action> &list = schedule.stages[stage];
  std::map<Key, size_t> ends;
  for (auto [position, action] : enumerate(list))
    for (const Key &key : actions.get(action))
      ends[key] = position;
  std::map<std::pair<Flight, int64_t>, BitVector> taken;
  std::map<Key, unsigned> now; // what is in flight
  for (auto [position, action] : enumerate(list)) {
    SmallVector<Key, 4> flights = actions.get(action);
    for (const Key &key : flights) {
      auto [place, isNew] = now.try_emplace(key, 0);
      if (!isNew)
        continue;
      auto [flight, chunk, microBatch] = key;
      BitVector &used = taken[{flight, chunk}];
      int free = used.find_first_unset();
      place->second = free < 0 ? used.size() : unsigned(free);
      used.resize(std::max(used.size(), place->second + 1));
      used.set(place->second);
      std::vector<unsigned> &all = places[{flight, chunk}];
      all.resize(std::max(all.size(), size_t(microBatch) + 1));
      all[size_t(microBatch)] = place->second;
    }
    for (const Key &key : flights)
      if (auto ending = now.find(key); ending != now.end() && ends.at(key) == position) {
        taken[{std::get<0>(key), std::get<1>(key)}].reset(ending->second);
        now.erase(ending);
      }
  }
}

} // namespace mlir::par
