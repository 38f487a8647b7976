//===- ReceivedValues.cpp - results that are what a chunk received --------------------------------------===//
#include "ReceivedValues.h"
#include <set>

using namespace mlir;
using namespace mlir::par;

/// Backward functions of a chunk return one set of values, whatever parts there are.
static Phase getDirection(Phase phase) { return isBackward(phase) ? Phase::Backward : phase; }

static BlockArgument getReturnedArgument(func::FuncOp function, unsigned result) {
  return dyn_cast<BlockArgument>(function.front().getTerminator()->getOperand(result));
}

static Crossing getCrossing(Phase phase, int64_t chunk, int64_t number) {
  return isBackward(phase) ? Crossing{Flight::Gradient, chunk, number}
                           : Crossing{Flight::Activation, chunk - 1, number};
}

ReceivedValues::ReceivedValues(const ChunkFunctions &functions) {
  for (func::FuncOp function : functions.getAll()) {
    std::set<int64_t> passing;
    for (unsigned result = 0; result < function.getNumResults(); ++result) {
      PlaceAttr place = getResultPlace(function, result);
      if (!place || (!place.getResidual() && !place.getBoundary()))
        continue;
      BlockArgument argument = getReturnedArgument(function, result);
      int64_t number = argument ? getBoundary(function, argument.getArgNumber()).value_or(-1) : -1;
      // Handed on twice, it lies where it came once: a chunk that hands on one of two would write over the
      // other.
      if (place.getBoundary() && !passing.insert(number).second)
        number = -1;
      Phase direction = getDirection(getPhase(function).getPhase());
      auto [entry, isNew] =
          received.try_emplace({direction, getChunk(function), place.getAsOpaquePointer()}, number);
      if (!isNew && entry->second != number)
        entry->second = -1;
    }
  }
}

std::optional<Crossing> ReceivedValues::find(Phase phase, int64_t chunk, PlaceAttr place) const {
  auto found = received.find({getDirection(phase), chunk, place.getAsOpaquePointer()});
  if (found == received.end() || found->second < 0)
    return std::nullopt;
  return getCrossing(phase, chunk, found->second);
}

std::optional<Crossing> ReceivedValues::findResidual(int64_t chunk, PlaceAttr place) const {
  std::optional<Crossing> crossing = find(Phase::Forward, chunk, place);
  return crossing ? crossing : find(Phase::Backward, chunk, place);
}

std::optional<unsigned> ReceivedValues::findArgument(func::FuncOp function, unsigned result) const {
  PhaseAttr phase = getPhase(function);
  PlaceAttr place = phase ? getResultPlace(function, result) : PlaceAttr();
  if (!place || !find(phase.getPhase(), phase.getChunk(), place))
    return std::nullopt;
  return getReturnedArgument(function, result).getArgNumber();
}

LongFlights ReceivedValues::getLongFlights(const ChunkFunctions &functions, Phase forward) const {
  LongFlights flights;
  for (func::FuncOp function : functions.getAll()) {
    Phase phase = getPhase(function).getPhase();
    int64_t chunk = getChunk(function);
    if (phase != forward && !isBackward(phase))
      continue;
    for (unsigned argument = 0; argument < function.getNumArguments(); ++argument)
      if (PlaceAttr place = getPlace(function, argument); place && place.getResidual())
        if (std::optional<Crossing> crossing = findResidual(chunk, place))
          flights.readers.insert({static_cast<ActionKind>(phase), chunk, crossing->flight, crossing->cut});
    for (unsigned result = 0; result < function.getNumResults(); ++result)
      if (PlaceAttr place = getResultPlace(function, result); place && place.getBoundary())
        if (std::optional<Crossing> crossing = find(phase, chunk, place))
          flights.passing.insert(
              {crossing->flight, crossing->flight == Flight::Gradient ? chunk - 1 : chunk});
  }
  return flights;
}
