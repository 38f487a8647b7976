#include "core/Signals.h"

#include "par/io/EndingSignals.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <unistd.h>

namespace par::rt {

/// When the first signal came, in seconds of the monotonic clock (from 1); 0 = none did. Read by another
/// thread than handled.
static std::atomic<int64_t> firstSignal{0};
static std::atomic<bool> deferred{false}, quiet{false};
static std::atomic<int> saves{0};
static_assert(std::atomic<int64_t>::is_always_lock_free, "a signal handler may not wait for a lock");

[[noreturn]] static void endAtOnce(const char *text) {
  if (!quiet && write(2, text, std::strlen(text)) < 0) {
  }
  io::removeTemporariesForGood();
  _exit(1);
}

static void onStop(int) {
  int saved = errno;
  if (!deferred)
    endAtOnce("error: par-run: ended by a signal before the first step; there was nothing to save\n");
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  int64_t second = now.tv_sec + 1, first = 0;
  bool isFirst = firstSignal.compare_exchange_strong(first, second);
  errno = saved;
  // Launchers send a signal to the process and to its group: what follows at once is the same request.
  if (isFirst || second - first < 2)
    return;
  endAtOnce("error: par-run: ended at once by a second signal; nothing was saved\n");
}

static void handle(int signal, void (*handler)(int)) {
  struct sigaction action;
  std::memset(&action, 0, sizeof(action));
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, nullptr);
}

void installSignalHandlers() {
  io::removeTemporariesOnSignals();
  handle(SIGUSR1, [](int) { ++saves; });
  handle(SIGPIPE, SIG_IGN); // a run does not end for want of a reader
  handle(SIGINT, onStop);
  handle(SIGTERM, onStop);
  struct sigaction before;
  if (sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
    handle(SIGHUP, onStop);
}

void endQuietly() { quiet = true; }
void deferStops() { deferred = true; }
bool stopRequested() { return firstSignal != 0; }
int savesRequested() { return saves; }

} // namespace par::rt
