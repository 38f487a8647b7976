//===- FlightPlan.cpp - where what is in flight lies ----------------------------------------------------===//
#include "par/Schedule/FlightPlan.h"
#include "ActionProducts.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace mlir::par {

namespace {
using Key = std::tuple<Flight, int64_t, int64_t>;

/// What an action makes, reads or moves of what is in flight.
SmallVector<Key, 4> getFlights(const PipelineSchedule &schedule, const Action &action) {
  if (std::optional<Message> message = getMessage(action))
    return {{message->isGradient ? Flight::Gradient : Flight::Activation, message->getCut(),
             message->microBatch}};
  if (isPerStep(action.kind))
    return {};
  int64_t chunk = action.chunk, microBatch = action.microBatch, last = schedule.getNumChunks() - 1;
  bool goesBack = !is_contained(getProducts(action.kind), Activation);
  SmallVector<Key, 4> flights{{Flight::Residuals, chunk, microBatch}};
  // The weight part has what it needs of the gradient among what the input part has saved.
  if (action.kind == ActionKind::BackwardWeight)
    return flights;
  Flight crossing = goesBack ? Flight::Gradient : Flight::Activation;
  if (chunk > 0)
    flights.push_back({crossing, chunk - 1, microBatch});
  if (chunk < last)
    flights.push_back({crossing, chunk, microBatch});
  return flights;
}
} // namespace

FlightPlan::FlightPlan(const PipelineSchedule &schedule, size_t stage) {
  const std::vector<Action> &list = schedule.stages[stage];
  std::map<Key, size_t> ends;
  for (auto [position, action] : enumerate(list))
    for (const Key &key : getFlights(schedule, action))
      ends[key] = position;
  std::map<std::pair<Flight, int64_t>, BitVector> taken;
  for (auto [position, action] : enumerate(list)) {
    SmallVector<Key, 4> flights = getFlights(schedule, action);
    for (const Key &key : flights) {
      auto [place, isNew] = places.try_emplace(key, 0);
      if (!isNew)
        continue;
      BitVector &used = taken[{std::get<0>(key), std::get<1>(key)}];
      int free = used.find_first_unset();
      place->second = free < 0 ? used.size() : unsigned(free);
      used.resize(std::max(used.size(), place->second + 1));
      used.set(place->second);
    }
    for (const Key &key : flights)
      if (ends.at(key) == position)
        taken[{std::get<0>(key), std::get<1>(key)}].reset(places.at(key));
  }
}

} // namespace mlir::par
