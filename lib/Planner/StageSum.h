//===- StageSum.h - a stage over a step -------------------------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_PLANNER_STAGESUM_H
#define PAR_LIB_PLANNER_STAGESUM_H

#include "par/Planner/ModelDivision.h"
#include "par/Schedule/StepTimes.h"

namespace mlir::par {

/// How chunks are summed up.
struct ChunkSummer {
  const StateRows &rows;
  const ConcurrencyModel &concurrency;
  /// Of micro-batches whose backward pass is one action; those of others are two. Where rows have whole ones
  /// alone, what these exchange is the second part's.
  double wholeShare;

  /// The seconds that a chunk's functions take of a micro-batch.
  ActionTimes getTimes(const ChunkTable &chunk, const ChunkState &stored) const;
  /// The seconds of a backward pass that other stages wait for, on average.
  double getBackward(const ActionTimes &times) const {
    return times.backwardInput + wholeShare * (times.backwardWeight + times.joined);
  }
};

/// Chunks by both of their tables.
struct DividedChunks {
  const ChunkTables &tables;
  const ChunkStates &states;
};

/// One stage over a step.
class StageSum {
public:
  /// `variables`: what the chunk adds to the stage's. `isFirst`: of the model.
  void add(const ChunkTable &chunk, const ChunkState &stored, const StateTable &variables, bool isFirst,
           const ChunkSummer &summer);
  /// What the chunks of another one take, too.
  void join(const StageSum &chunks);

  /// Seconds of a micro-batch: there, back, and what no stage waits for.
  double forward = 0, backward = 0, weight = 0;
  double transfers = 0;    ///< seconds of its messages to the next stages, and as many back
  double last = 0;         ///< seconds that the last micro-batch's backward pass takes longer
  double reduction = 0;    ///< seconds behind all micro-batches
  double update = 0;       ///< seconds behind the reductions of all stages
  double state = 0;        ///< bytes
  double gatheredOnce = 0; ///< bytes of parameters that are gathered for the step
  /// Bytes of what is neither state nor saved while a chunk runs: beside what is gathered for the step, and
  /// in the second part of a split backward pass, which needs no parameters.
  llvm::SmallVector<std::pair<double, double>, 8> whole;
  double offloaded = 0; ///< bytes of state on the host
  double staged = 0;    ///< bytes of offloaded state that is on the device while it is updated
  /// Seconds of a micro-batch's way through the first chunk, there and back.
  double firstForward = 0, firstBackward = 0;

private:
  void addComputing(const ChunkTable &chunk, const ActionTimes &times, const ChunkSummer &summer);
  void addWhole(const ChunkTable &chunk, const ChunkState &stored, const ChunkSummer &summer);
  void addCollectives(const ChunkTable &chunk, const StateTable &variables, bool isFirst,
                      const ChunkSummer &summer);
  void addUpdate(const StateTable &variables, const ChunkSummer &summer);
};

} // namespace mlir::par

#endif // PAR_LIB_PLANNER_STAGESUM_H
