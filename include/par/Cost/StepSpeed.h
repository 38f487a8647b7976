//===- StepSpeed.h - how quick a step is on a cluster -----------------------------------------*- C++ -*-===//
#ifndef PAR_COST_STEPSPEED_H
#define PAR_COST_STEPSPEED_H

#include "par/Cost/Cluster.h"

namespace mlir::par {

/// The unit in which a plan's speed is counted: "tokens", or "rows" of a graph that reads none.
const char *getUnit(const Plan &plan);

struct StepSpeed {
  double unitsPerSecond;
  double mfu; ///< share of the devices' peak that the model's own operations have
};

/// Computes the speed of a step that takes so many seconds and is so many operations of the model. `cluster`
/// is as its ranks see it.
StepSpeed getSpeed(const Plan &plan, double seconds, double modelFlops, const Cluster &cluster);

/// Bytes that each rank of a plan may take.
double getUsableBytes(const Plan &plan, const Cluster &cluster);

} // namespace mlir::par

#endif // PAR_COST_STEPSPEED_H
