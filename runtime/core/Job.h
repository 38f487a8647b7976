/// A run from its command line to its exit code.
#ifndef PAR_CORE_JOB_H
#define PAR_CORE_JOB_H

#include "core/Rank.h"

namespace par::rt {

/// Runs a package as the options say and returns the process's exit code. A failure within the ranks ends the
/// process. Throws Error for everything that is wrong before they start.
int runLocalJob(RunOptions options);
/// The same where this process is one rank of several.
int runProcessJob(RunOptions options, const Launch &launch, TransportKind kind);

/// A rank from beginning to end; rank 0 has the watchdog. A failure ends the process.
Ending runRank(const Shared &shared, comm::Transport &transport, Watchdog *watchdog, int number);

/// Exit code, and the error line if there is one and this process is to print it.
int reportEnding(Ending ending, const RunOptions &options, int64_t step, bool print);

/// For ranks that leave it to rank 0 to say what is wrong: exit code 1, late enough for launchers that end
/// all processes when the first one ends.
int exitQuietly();

/// par-run: command line, run, one "error:" line at most.
int parRunMain(int argc, char **argv);

} // namespace par::rt
#endif
