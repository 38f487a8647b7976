//===- ReceivedValues.h - results that are what a chunk received ------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_LOWER_RECEIVEDVALUES_H
#define PAR_LIB_TRANSFORMS_LOWER_RECEIVEDVALUES_H

#include "par/Dialect/Par/IR/Places.h"
#include "par/Schedule/FlightPlan.h"
#include <map>

namespace mlir::par {

/// A value that crosses the cut behind a chunk: forward (`Flight::Activation`) or, its cotangent, back
/// (`Flight::Gradient`).
struct Crossing {
  Flight flight;
  int64_t cut, number;
};

/// What a chunk received and saves, hands to its weight part or hands on to the next chunk is not copied: it
/// stays in the slot it came in. It is so where all functions of the chunk that return the value return the
/// argument itself.
class ReceivedValues {
public:
  explicit ReceivedValues(const ChunkFunctions &functions);

  /// The argument that a result of a chunk function is.
  std::optional<unsigned> findArgument(func::FuncOp function, unsigned result) const;
  /// How a chunk got what functions of `phase` return as `place`.
  std::optional<Crossing> find(Phase phase, int64_t chunk, PlaceAttr place) const;
  /// How a chunk got what it saves.
  std::optional<Crossing> findResidual(int64_t chunk, PlaceAttr place) const;
  /// What lies longer than from its message to the action that it is for.
  LongFlights getLongFlights(const ChunkFunctions &functions, Phase forward) const;

private:
  /// The number of the boundary, by direction, chunk and place of the result; -1: some function computes it.
  std::map<std::tuple<Phase, int64_t, const void *>, int64_t> received;
};

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_LOWER_RECEIVEDVALUES_H
