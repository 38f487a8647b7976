//===- ScheduleTool.h - par-schedule as a function ------------------------------------------*- C++ -*-===//
#ifndef PAR_SCHEDULE_SCHEDULETOOL_H
#define PAR_SCHEDULE_SCHEDULETOOL_H

namespace mlir::par {

/// What `par-schedule` does with its command line; its exit status.
int runScheduleTool(int argc, char **argv);

} // namespace mlir::par

#endif // PAR_SCHEDULE_SCHEDULETOOL_H
