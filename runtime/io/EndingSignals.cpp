#include "par/io/EndingSignals.h"

#include "par/io/Files.h"

#include <atomic>
#include <cstring>
#include <ctime>
#include <unistd.h>

namespace par::io {

// Whoever makes a file counts itself and then looks whether the process ends; who ends it says so and then
// looks whether anybody is counted. One of the two sees the other.
static std::atomic<int> making{0};
static std::atomic<bool> ending{false};

void removeTemporariesForGood() {
  ending = true;
  struct timespec moment = {0, 1000000};
  for (int i = 0; making > 0 && i < 1000; ++i) // but not for one that hangs in a write
    nanosleep(&moment, nullptr);
  removeTemporaries();
}

static void act(int signal, void (*handler)(int)) {
  struct sigaction action;
  std::memset(&action, 0, sizeof(action));
  action.sa_handler = handler;
  // Other ending signals wait meanwhile: they would find the same files half removed.
  sigfillset(&action.sa_mask);
  action.sa_flags = SA_ONSTACK;
  sigaction(signal, &action, nullptr);
}

static bool isIgnored(int signal) {
  struct sigaction action;
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

static void endAs(int signal) {
  removeTemporariesForGood();
  act(signal, SIG_DFL);
  raise(signal); // delivered once this returns
}

void removeTemporariesOnSignals() {
  act(SIGXFSZ, SIG_IGN);
  for (int signal : endingSignals)
    if (!isIgnored(signal))
      act(signal, endAs);
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal)
    if (!isIgnored(signal))
      act(signal, endAs);
#ifndef PAR_SANITIZE // the sanitizers report faults themselves
  for (int signal : faultSignals)
    act(signal, endAs);
#endif
}

SignalsWait::SignalsWait() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : endingSignals)
    sigaddset(&set, signal);
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal)
    sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, &before);
  ++making;
  if (!ending)
    return;
  --making;
  while (true) // the process is about to be over
    pause();
}

SignalsWait::~SignalsWait() {
  --making;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

} // namespace par::io
