/// Signals that end a process, and what it removes before it ends: the one list for all tools of both halves.
#ifndef PAR_IO_ENDINGSIGNALS_H
#define PAR_IO_ENDINGSIGNALS_H

#include <csignal>

namespace par::io {

/// They end a process unless it says otherwise, as par-run does of SIGPIPE. SIGXFSZ is not among them: it is
/// ignored, and the write that a limit of sizes stops fails with a reason. Signals from SIGRTMIN on are
/// handled as these are.
constexpr int endingSignals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGUSR1,   SIGUSR2, SIGPIPE, SIGALRM,
                                 SIGTERM, SIGXCPU, SIGPROF, SIGVTALRM, SIGIO,   SIGPWR,  SIGSTKFLT};
/// A fault of the program, which is ended with a core dump.
constexpr int faultSignals[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS};

/// From here on all of them remove the temporary files and folders of the process first, and then do what
/// they do. Those that the process was started to ignore (nohup) stay ignored. To be called before there are
/// files and threads; handlers that are installed later take the place of these.
void removeTemporariesOnSignals();

/// For whoever handles such a signal otherwise: the process ends, so no thread makes a temporary file any
/// more, and what there is goes.
void removeTemporariesForGood();

/// While one lives, ending signals wait: those of its thread, of processes that the thread starts, and for a
/// moment the handler of removeTemporariesOnSignals in another thread. So a file and what removes it are made
/// together or not at all.
class SignalsWait {
public:
  SignalsWait();
  ~SignalsWait();
  SignalsWait(const SignalsWait &) = delete;
  SignalsWait &operator=(const SignalsWait &) = delete;

private:
  sigset_t before;
};

} // namespace par::io
#endif
