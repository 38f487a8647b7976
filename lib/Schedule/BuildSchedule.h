//===- BuildSchedule.h - one stage's list of a named schedule ---------------------------------*- C++ -*-===//
#ifndef PAR_LIB_SCHEDULE_BUILDSCHEDULE_H
#define PAR_LIB_SCHEDULE_BUILDSCHEDULE_H

#include "par/Schedule/Schedule.h"

namespace mlir::par {

using Actions = std::vector<Action>;

/// Whether there is a shape with these counts.
llvm::Error checkCounts(PipelineShape shape);

/// Chunks in turns, or two per stage there and back: the stage that has the first chunk then has the last
/// one, too, and gives its memory back first.
std::vector<int64_t> placeChunks(PipelineShape shape, bool thereAndBack);

Actions buildZeroBubbleV(PipelineShape shape, int64_t stage);
Actions buildDualPipeV(PipelineShape shape, int64_t stage);

} // namespace mlir::par

#endif // PAR_LIB_SCHEDULE_BUILDSCHEDULE_H
