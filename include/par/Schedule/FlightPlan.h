//===- FlightPlan.h - where what is in flight lies --------------------------------------------*- C++ -*-===//
#ifndef PAR_SCHEDULE_FLIGHTPLAN_H
#define PAR_SCHEDULE_FLIGHTPLAN_H

#include "par/Schedule/Schedule.h"

#include <map>
#include <set>
#include <tuple>

namespace mlir::par {

/// What a micro-batch leaves for later: what a chunk saves until its backward pass has the gradients of its
/// input, what it saves until those of weights are there, from forward and from the input part on, and what
/// crosses the cut behind a chunk, forward and back.
enum class Flight { Residuals, WeightResiduals, HandedResiduals, Activation, Gradient };
inline constexpr size_t kFlights = 5;

/// What crosses a cut lies from the message that brings it to the action that it is for; some of it longer.
struct LongFlights {
  /// Actions, by kind and chunk, that read what came over a cut.
  std::set<std::tuple<ActionKind, int64_t, Flight, int64_t>> readers;
  /// What crosses these cuts lies, as far as it does, where it came over the cut before.
  std::set<std::pair<Flight, int64_t>> passing;
};

/// A place over a step: from the action that takes it first to the one that leaves it last.
struct PlaceLife {
  Flight flight;
  int64_t chunk;
  size_t first, last; ///< positions in the stage's list
};

/// Of one stage's list, which is the list of a whole step. What is in flight at once lies in different
/// places: as many as are in flight at most, whatever the number of micro-batches.
class FlightPlan {
public:
  FlightPlan(const PipelineSchedule &schedule, size_t stage, const LongFlights &longer = {});

  /// From 0, by micro-batch; those behind the end have place 0. `chunk` is the one that saves, or the one
  /// before the cut.
  llvm::ArrayRef<unsigned> getPlaces(Flight flight, int64_t chunk) const {
    auto found = places.find({flight, chunk});
    return found == places.end() ? llvm::ArrayRef<unsigned>() : llvm::ArrayRef<unsigned>(found->second);
  }
  unsigned getPlace(Flight flight, int64_t chunk, int64_t microBatch) const {
    llvm::ArrayRef<unsigned> all = getPlaces(flight, chunk);
    auto number = static_cast<size_t>(microBatch); // huge for what is of none
    return number < all.size() ? all[number] : 0;
  }

  /// Of all places, those of one chunk together.
  llvm::ArrayRef<PlaceLife> getLives() const { return lives; }

private:
  std::map<std::pair<Flight, int64_t>, std::vector<unsigned>> places;
  std::vector<PlaceLife> lives;
};

} // namespace mlir::par

#endif // PAR_SCHEDULE_FLIGHTPLAN_H
