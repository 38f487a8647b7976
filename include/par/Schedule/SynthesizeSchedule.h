//===- SynthesizeSchedule.h - the schedule that is made for given times -----------------------*- C++ -*-===//
#ifndef PAR_SCHEDULE_SYNTHESIZESCHEDULE_H
#define PAR_SCHEDULE_SYNTHESIZESCHEDULE_H

#include "par/Schedule/StepTimes.h"

namespace mlir::par {

/// What stages may hold, in units of what one chunk saves of a micro-batch.
struct ScheduleMemory {
  /// Of all stages, or of each; none: P micro-batches, what 1f1b holds at most.
  std::vector<double> limits = {};
  /// How much of it is held until the gradients of weights are there; the rest goes with those of inputs.
  double weightShare = 1;
};

/// `auto`: lists for given times of `chunks` under a limit of memory. Backward is cut in two. The search
/// makes the last action's end as early as it can; it takes about a second at most, and the same problem
/// always has the same answer. Fails where counts are below 1 and where a limit is below what any schedule
/// needs.
llvm::Expected<PipelineSchedule> synthesizeSchedule(PipelineShape shape, const StepTimes &times,
                                                    const ScheduleMemory &memory);

} // namespace mlir::par

#endif // PAR_SCHEDULE_SYNTHESIZESCHEDULE_H
