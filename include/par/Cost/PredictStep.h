//===- PredictStep.h - how a training step will run, by the cost model ------------------------*- C++ -*-===//
#ifndef PAR_COST_PREDICTSTEP_H
#define PAR_COST_PREDICTSTEP_H

#include "mlir/IR/BuiltinOps.h"
#include "par/Cost/Machine.h"
#include "par/Cost/TimeTerms.h"
#include "par/Schedule/Timeline.h"

namespace mlir::par {

/// What every stage does when, in seconds.
struct PredictedStep {
  PipelineSchedule lists; ///< of a whole step; without a pipeline, of one stage
  Timeline timeline;
  /// Of the stage that computes longest; their sum is the step.
  TimeTerms terms;
};

/// Replays the schedules of a module of rank programs, in which functions, messages and sums take what the
/// cost model says. Fails after an error where they are not those of one step.
FailureOr<PredictedStep> predictStep(ModuleOp module, const Machine &machine);

} // namespace mlir::par

#endif // PAR_COST_PREDICTSTEP_H
