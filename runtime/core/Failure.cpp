#include "core/Failure.h"

#include "comm/process/LostTime.h"
#include "core/Console.h"
#include "par/config/Message.h"
#include "par/io/Files.h"
#include "par/io/MappedRanges.h"
#include "par/io/Threads.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <unistd.h>
#include <vector>

namespace par::rt {

void Failure::endHere(int culprit, const std::string &message, bool first) {
  mutex.lock(); // for good: the process ends here
  try {
    std::string text = (culprit < 0 ? "" : board.report(culprit)) + (first ? config::errorLine(message) : "");
    printError(text);
    io::removeTemporaries();
    beforeExit();
  } catch (const std::bad_alloc &) { // none for words
    endWithoutMemory(culprit);
  }
  io::removeTemporaries(); // other processes wrote into them until now
  _exit(1);
}

void Failure::endWithoutMemory(int rank) {
  char text[160], who[32] = "";
  if (rank >= 0)
    std::snprintf(who, sizeof(who), "rank %d: ", rank);
  int length = std::snprintf(text, sizeof(text),
                             "error: %sout of memory; allow more (ulimit -v), or use fewer ranks\n", who);
  if (write(STDERR_FILENO, text, size_t(length)) < 0) {
  }
  io::removeTemporaries();
  _exit(1);
}

Watchdog::Watchdog(ProgressBoard &board, Failure &failure, double timeout)
    : board(board), failure(failure), timeout(timeout),
      thread(io::startThread("the thread that watches for ranks behind", [this] { watch(); })) {}

Watchdog::~Watchdog() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    finished = true;
  }
  changed.notify_all();
  thread.join();
}

void Watchdog::start() {
  std::lock_guard<std::mutex> lock(mutex);
  active = true;
}

void Watchdog::stop() {
  std::lock_guard<std::mutex> lock(mutex);
  active = false;
}

void Watchdog::watch() {
  using Clock = std::chrono::steady_clock;
  auto period = std::chrono::duration<double>(std::min(timeout / 20, 0.5));
  comm::LostTime lostTime(period.count());
  std::vector<uint64_t> seen(size_t(board.size()));
  std::vector<Clock::time_point> since(size_t(board.size()), Clock::now());
  std::unique_lock<std::mutex> lock(mutex);
  Clock::time_point now = Clock::now();
  // Ended a period early, so that all is over within the time that was given.
  auto isSilent = [&](int rank) {
    return std::chrono::duration<double>(now - since[size_t(rank)]) + 2 * period >=
           std::chrono::duration<double>(timeout);
  };
  while (!finished) {
    changed.wait_for(lock, period);
    now = Clock::now();
    Clock::duration lost = lostTime.take();
    for (Clock::time_point &one : since)
      one += lost;
    for (int rank = 0; rank < board.size(); ++rank) {
      uint64_t beats = board[rank].beats;
      if (!active || board[rank].done || beats != seen[size_t(rank)])
        seen[size_t(rank)] = beats, since[size_t(rank)] = now;
    }
    for (int rank = 0; rank < board.size(); ++rank) {
      if (!isSilent(rank))
        continue;
      int culprit = board.awaitedBy(rank);
      if (!isSilent(culprit) && !board[culprit].done)
        continue; // it works, and the others may wait for it
      char seconds[32];
      std::snprintf(seconds, sizeof(seconds), "%g", timeout);
      failure.end(culprit, "rank " + std::to_string(culprit) + " is behind: nothing was heard for " +
                               seconds + " s (--timeout) " + board.whereabouts(culprit) +
                               "; the run was ended; see what its machine does, or give a longer "
                               "--timeout");
    }
  }
}

#ifdef PAR_SANITIZE
// The sanitizers report crashes themselves.
void installCrashHandler(const RankProgress *, int, const Program &) {}
#else
namespace {
thread_local const RankProgress *crashProgress = nullptr;
thread_local const Program *crashProgram = nullptr;
thread_local int crashRank = -1;
} // namespace

/// Only calls that work in a broken process: no allocation, no lock.
static void onCrash(int signal, siginfo_t *info, void *) {
  static std::atomic<int> reporting{-1};
  int nobody = -1;
  if (!reporting.compare_exchange_strong(nobody, crashRank)) {
    if (nobody == crashRank)
      _exit(1);
    while (true) // another rank crashed first: it ends the process
      pause();
  }
  char text[512];
  if (const char *file = signal == SIGBUS ? io::mappedFileAt(info->si_addr) : nullptr) {
    std::snprintf(text, sizeof(text), "rank %d in step %lld", crashRank,
                  crashProgress ? static_cast<long long>(crashProgress->step.load()) : 0LL);
    io::reportTruncation(file, text);
    io::removeTemporaries();
    _exit(1);
  }
  int32_t number = crashProgress ? crashProgress->action.load() : -1;
  const char *name = number >= 0 ? crashProgram->actions[size_t(number)].name.c_str() : "";
  int length = std::snprintf(
      text, sizeof(text),
      "error: rank %d crashed with signal %d in step %lld, action %d \"%s\"; the run was ended\n", crashRank,
      signal, crashProgress ? static_cast<long long>(crashProgress->step.load()) : 0LL, int(number), name);
  if (write(2, text, size_t(length)) < 0) {
  }
  io::removeTemporaries();
  _exit(1);
}

namespace {
/// A stack of its own, so that an overflow of the thread's can be reported too.
class CrashStack {
public:
  CrashStack() : memory(new char[size]) {}
  ~CrashStack() { set(nullptr, SS_DISABLE); }
  void use() { set(memory.get(), 0); }

private:
  static constexpr size_t size = 64 * 1024;
  static void set(void *begin, int flags) {
    stack_t stack;
    std::memset(&stack, 0, sizeof(stack));
    stack.ss_sp = begin;
    stack.ss_size = size;
    stack.ss_flags = flags;
    sigaltstack(&stack, nullptr);
  }
  std::unique_ptr<char[]> memory;
};
} // namespace

void installCrashHandler(const RankProgress *progress, int rank, const Program &program) {
  crashProgress = progress, crashRank = rank, crashProgram = &program;
  static thread_local CrashStack stack;
  stack.use();
  struct sigaction action;
  std::memset(&action, 0, sizeof(action));
  action.sa_sigaction = onCrash;
  action.sa_flags = SA_ONSTACK | SA_SIGINFO;
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL})
    sigaction(signal, &action, nullptr);
}
#endif

} // namespace par::rt
