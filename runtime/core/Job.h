#ifndef PAR_CORE_JOB_H
#define PAR_CORE_JOB_H

#include "core/Options.h"

namespace par::rt {

/// Runs a package as the options say and returns the process's exit code. A failure within the ranks ends the process.
/// Throws Error for everything that is wrong before they start.
int runJob(const RunOptions &options);

/// par-run: command line, run, one "error:" line at most.
int parRunMain(int argc, char **argv);

} // namespace par::rt
#endif
