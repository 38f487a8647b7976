/// What users, shells and schedulers ask of a run by signals (docs/Running.md, "Signals").
#ifndef PAR_CORE_SIGNALS_H
#define PAR_CORE_SIGNALS_H

namespace par::rt {

/// The first thing of a process. SIGINT, SIGTERM and SIGHUP end it at once, as there is nothing to save yet;
/// SIGUSR1 is counted. A SIGHUP that is ignored (nohup) stays so. Other signals that end it leave no file
/// behind.
void installSignalHandlers();

/// Another process prints the error line.
void endQuietly();

/// From now on there is something to lose: SIGINT, SIGTERM and SIGHUP ask for a stop; one more, two seconds
/// later or more, ends the process at once.
void deferStops();
bool stopRequested();

/// How often SIGUSR1 asked for a checkpoint so far.
int savesRequested();

} // namespace par::rt
#endif
