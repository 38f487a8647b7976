//===- FlightPlan.cpp - where what is in flight lies ----------------------------------------------------===//
#include "par/Schedule/FlightPlan.h"
#include "ActionProducts.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
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
      : schedule(schedule), longer(longer) {
    for (auto [kind, chunk, flight, cut] : longer.readers)
      if (cut == chunk - 1 || cut == chunk)
        crossings[{static_cast<unsigned>(kind), chunk}].emplace_back(flight, cut);
  }

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
    auto found = crossings.find({static_cast<unsigned>(action.kind), action.chunk});
    if (found != crossings.end())
      for (auto [flight, cut] : found->second)
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
  /// What an action reads that came over a cut before or behind its chunk, by kind and chunk.
  DenseMap<std::pair<unsigned, int64_t>, SmallVector<std::pair<Flight, int64_t>, 2>> crossings;
};
} // namespace

namespace {
/// The values in flight of one chunk and kind.
class Line {
public:
  Line(std::vector<unsigned> &places, size_t microBatches) : places(places) {
    places.reserve(microBatches);
    ends.reserve(microBatches);
    isOpen.reserve(static_cast<unsigned>(microBatches));
  }

  void see(int64_t microBatch, size_t position) {
    auto number = static_cast<size_t>(microBatch);
    if (number >= ends.size()) {
      ends.resize(number + 1);
      isOpen.resize(number + 1);
    }
    ends[number] = position;
  }
  /// The first place that is free, if it has none.
  void take(int64_t microBatch, size_t position) {
    auto number = static_cast<size_t>(microBatch);
    if (isOpen[number])
      return;
    int free = used.find_first_unset();
    unsigned place = free < 0 ? used.size() : unsigned(free);
    if (place == used.size()) {
      used.resize(place + 1);
      lives.emplace_back(position, position);
    }
    used.set(place);
    isOpen[number] = true;
    places.resize(std::max(places.size(), number + 1));
    places[number] = place;
  }
  void leave(int64_t microBatch, size_t position) {
    auto number = static_cast<size_t>(microBatch);
    if (!isOpen[number] || ends[number] != position)
      return;
    isOpen[number] = false;
    used.reset(places[number]);
    lives[places[number]].second = position;
  }

  std::vector<std::pair<size_t, size_t>> lives; ///< by place: positions at which it is taken first, left last

private:
  std::vector<unsigned> &places; ///< by micro-batch
  std::vector<size_t> ends;      ///< by micro-batch: the last position that has it
  BitVector isOpen;              ///< by micro-batch
  BitVector used;                ///< by place
};
} // namespace

FlightPlan::FlightPlan(const PipelineSchedule &schedule, size_t stage, const LongFlights &longer) {
  FlightsOfActions actions(schedule, longer);
  const std::vector<Action> &list = schedule.stages[stage];
  auto chunks = static_cast<size_t>(schedule.getNumChunks());
  std::vector<std::unique_ptr<Line>> lines(kFlights * chunks); // by flight and chunk
  std::vector<std::pair<Line *, int64_t>> uses; // of one action behind the other, with micro-batches
  std::vector<size_t> begins = {0};             // of each action's
  uses.reserve(4 * list.size());
  begins.reserve(list.size() + 1);
  for (auto [position, action] : enumerate(list)) {
    for (auto [flight, chunk, microBatch] : actions.get(action)) {
      std::unique_ptr<Line> &line = lines[static_cast<size_t>(flight) * chunks + static_cast<size_t>(chunk)];
      if (!line)
        line =
            std::make_unique<Line>(places[{flight, chunk}], static_cast<size_t>(schedule.shape.microBatches));
      line->see(microBatch, position);
      uses.emplace_back(line.get(), microBatch);
    }
    begins.push_back(uses.size());
  }
  for (size_t position = 0; position < list.size(); ++position) {
    auto flights = ArrayRef(uses).slice(begins[position], begins[position + 1] - begins[position]);
    for (auto [line, microBatch] : flights)
      line->take(microBatch, position);
    for (auto [line, microBatch] : flights)
      line->leave(microBatch, position);
  }
  for (auto [number, line] : enumerate(lines))
    if (line)
      for (auto [first, last] : line->lives)
        lives.push_back(
            {static_cast<Flight>(number / chunks), static_cast<int64_t>(number % chunks), first, last});
}

} // namespace mlir::par
