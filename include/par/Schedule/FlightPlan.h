//===- FlightPlan.h - where what is in flight lies --------------------------------------------*- C++ -*-===//
#ifndef PAR_SCHEDULE_FLIGHTPLAN_H
#define PAR_SCHEDULE_FLIGHTPLAN_H

#include "par/Schedule/Schedule.h"

#include <map>
#include <tuple>

namespace mlir::par {

/// What a micro-batch leaves for later: what a chunk saves for its backward pass, and what crosses the cut
/// behind a chunk, forward and back.
enum class Flight { Residuals, Activation, Gradient };

/// Of one stage's list, which is the list of a whole step. What is in flight at once lies in different
/// places: as many as are in flight at most, whatever the number of micro-batches.
class FlightPlan {
public:
  FlightPlan(const PipelineSchedule &schedule, size_t stage);

  /// From 0. `chunk` is the one that saves, or the one before the cut.
  unsigned getPlace(Flight flight, int64_t chunk, int64_t microBatch) const {
    auto found = places.find({flight, chunk, microBatch});
    return found == places.end() ? 0 : found->second;
  }

private:
  std::map<std::tuple<Flight, int64_t, int64_t>, unsigned> places;
};

} // namespace mlir::par

#endif // PAR_SCHEDULE_FLIGHTPLAN_H
