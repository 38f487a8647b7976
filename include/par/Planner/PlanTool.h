//===- PlanTool.h - par-plan as a function ----------------------------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_PLANTOOL_H
#define PAR_PLANNER_PLANTOOL_H

namespace mlir::par {

/// What `par-plan` does with its command line; its exit status.
int runPlanTool(int argc, char **argv);

} // namespace mlir::par

#endif // PAR_PLANNER_PLANTOOL_H
