//===- StagePlaces.h - what a stage of a pipeline has places for -----------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_STAGEPLACES_H
#define PAR_PLANNER_STAGEPLACES_H

#include "par/Planner/ModelDivision.h"
#include "par/Schedule/Schedule.h"

namespace mlir::par {

/// Micro-batches of a chunk that a stage has places for. Small: a search weighs millions of them.
struct ChunkPlaces {
  int32_t chunk = 0;
  /// For what is saved from forward pass to backward pass, or its first part; where it is split, from forward
  /// pass to the second part, and between the parts.
  int32_t saved = 0, savedForWeight = 0, handed = 0;
  /// For messages: inputs from when they are received, of which those that are saved lie there; outputs and
  /// gradients of inputs until they are sent, and gradients of outputs.
  int32_t inputs = 0, sent = 0, handedBack = 0, received = 0;

  bool hasMessages() const { return (inputs | sent | handedBack | received) != 0; }
};

/// Of a stage, for each of its chunks: the moments at which most places are taken while it runs. What is
/// saved and what is handed over differ in size: which of these moments is the fullest depends on the chunks.
struct StageMoments {
  std::vector<size_t> running;      ///< by moment: number of the chunk that runs, on the stage
  std::vector<ChunkPlaces> held;    ///< by moment, of all chunks of the stage
  std::vector<ChunkPlaces> ceiling; ///< the most of each place, over all moments
  bool hasMessages = false;
  std::vector<int32_t>
      saved; ///< of `held`, close together: of most bounds, of which there are most, it is all
};

/// Of a stage, by what is in flight (FlightPlan.h), with messages where its list has them (completeStep).
StageMoments listPlaces(const PipelineSchedule &schedule, size_t stage);

/// Micro-batches of which each of its chunks holds what it saves at one moment: the most that there is.
int32_t countHeldOfAll(const StageMoments &stage);

/// Bytes that a stage holds beside its state, at the moment when that is most. `whole`: while each of its
/// chunks runs.
double findMostBytes(const StageMoments &stage, const ChunkTables &chunks, llvm::ArrayRef<double> whole);
/// No less than that, in a fraction of the time.
double boundMostBytes(const StageMoments &stage, const ChunkTables &chunks, llvm::ArrayRef<double> whole);

} // namespace mlir::par

#endif // PAR_PLANNER_STAGEPLACES_H
