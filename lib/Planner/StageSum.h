//===- StageSum.h - a stage over a step -------------------------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_PLANNER_STAGESUM_H
#define PAR_LIB_PLANNER_STAGESUM_H

#include "par/Planner/ModelDivision.h"
#include "par/Schedule/StepTimes.h"

namespace mlir::par {

/// What a chunk's functions take of a micro-batch, by stage of ZeRO (Rajbhandari et al., 1910.02054, section
/// 7). Where a backward pass is split, its second part has the gradients of weights.
ActionTimes getTimes(const ChunkTable &chunk, const Plan &plan, const ConcurrencyModel &concurrency);

/// One stage over a step.
class StageSum {
public:
  /// `part`: of state, that ZeRO leaves a rank.
  explicit StageSum(double part) : part(part) {}

  /// `variables`: what it adds to the stage's. `isFirst`: of the model.
  void add(const ChunkTable &chunk, const StateTable &variables, bool isFirst, const Plan &plan,
           const Cluster &cluster);
  /// The state alone, on the device and on the host.
  void addStored(const StateTable &variables, const Plan &plan);
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
  double part;

  void addComputing(const ChunkTable &chunk, const Plan &plan, const ConcurrencyModel &concurrency);
  void addWhole(const ChunkTable &chunk, const Plan &plan);
  void addCollectives(const ChunkTable &chunk, const DataTimes &data, bool isFirst, const Plan &plan,
                      const ConcurrencyModel &concurrency);
  void addUpdate(const StateTable &variables, const Plan &plan, const Cluster &cluster);
};

} // namespace mlir::par

#endif // PAR_LIB_PLANNER_STAGESUM_H
