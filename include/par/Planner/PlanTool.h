//===- PlanTool.h - par-plan as a function ----------------------------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_PLANTOOL_H
#define PAR_PLANNER_PLANTOOL_H

#include "par/Compile/CompileTool.h"

namespace mlir::par {

/// The best plan for `par-compile --ranks`; nothing after one error line on stderr.
std::optional<PlanReply> findPlan(const PlanQuery &query);

/// What `par-plan` does with its command line; its exit status.
int runPlanTool(int argc, char **argv);

} // namespace mlir::par

#endif // PAR_PLANNER_PLANTOOL_H
