//===- OwnSteps.h - steps of par's own packages beside what the cost model says of them -------*- C++ -*-===//
#ifndef PAR_COST_OWNSTEPS_H
#define PAR_COST_OWNSTEPS_H

#include "par/Cost/Cluster.h"
#include "llvm/ADT/ArrayRef.h"

namespace mlir::par {

/// A step that was run on one GPU (docs/Performance.md, "Steps on an H100", "Steps on an H200").
/// Milliseconds.
struct OwnStep {
  const char *device; ///< a word of its name: "H100"
  FloatKind type;
  const char *config; ///< of examples/configs
  const char *flags;  ///< of par-compile
  double modelled;    ///< by the cost model, before any factor
  double measured;
  bool isBlind; ///< the cluster file was made without it
};

llvm::ArrayRef<OwnStep> getOwnSteps();

/// A step that was predicted for a machine of cores, and then run on it. Milliseconds.
struct OwnHostStep {
  const char *model, *plan;
  int64_t ranks;
  double predicted, measured;
};

llvm::ArrayRef<OwnHostStep> getOwnHostSteps();

/// Par's own steps took so many times the model's seconds of what a GPU computes. The factor is the
/// geometric mean of the steps of that device and type.
struct OwnFactor {
  std::string device;     ///< whose steps were measured: the cluster's, or the nearest
  bool isNearest = false; ///< the cluster's own device has none
  int64_t steps = 0, judged = 0;
  double factor = 1;
  /// |predicted / measured - 1| on average, of `judged` steps that are blind, each with the factor of the
  /// others; of one step alone, without a factor.
  double error = 0;
};

/// Finds the factor of a cluster's device. One that was never measured takes the nearest by the peak of bf16
/// and the memory's rate, on logarithmic scales. Processors have none: par measures their rates itself.
std::optional<OwnFactor> findOwnFactor(const Cluster &cluster, FloatKind type);

/// Has the cluster's devices compute as long as par's own steps did.
void takeOwnFactor(Cluster &cluster, FloatKind type);

} // namespace mlir::par

#endif // PAR_COST_OWNSTEPS_H
