//===- BuildSchedule.h - one stage's list of a named schedule ---------------------------------*- C++ -*-===//
#ifndef PAR_LIB_SCHEDULE_BUILDSCHEDULE_H
#define PAR_LIB_SCHEDULE_BUILDSCHEDULE_H

#include "par/Schedule/Schedule.h"

namespace mlir::par {

using Actions = std::vector<Action>;

Actions buildZeroBubbleV(PipelineShape shape, int64_t stage);
Actions buildDualPipeV(PipelineShape shape, int64_t stage);

} // namespace mlir::par

#endif // PAR_LIB_SCHEDULE_BUILDSCHEDULE_H
