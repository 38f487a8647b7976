//===- StageSchedule.h - what one stage of a pipeline runs ------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_LOWER_STAGESCHEDULE_H
#define PAR_LIB_TRANSFORMS_LOWER_STAGESCHEDULE_H

#include "par/Dialect/Par/IR/Places.h"
#include "par/Dialect/Rank/IR/Rank.h"
#include "par/Schedule/Schedule.h"

namespace mlir::par {

/// The gradients that several stages have, by the stages: they are added up over these.
using TiedGradients = std::map<std::vector<int64_t>, SmallVector<VariableOp>>;

/// Appends the rank.schedule of one purpose and stage to the module of `symbols`: an action for each entry of
/// the stage's list.
LogicalResult buildStageSchedule(const ChunkFunctions &functions, const SymbolTable &symbols,
                                 rank::Purpose purpose, const PipelineSchedule &lists, size_t stage,
                                 const TiedGradients &tied);

/// Says which value every action reads from a slot and writes to it, and what the runtime finds at the end.
void numberValues(rank::ScheduleOp schedule, rank::ReturnOp exit);

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_LOWER_STAGESCHEDULE_H
