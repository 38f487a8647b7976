/// How a run ends early: everything says what it was doing, nothing partial stays, exit code 1.
#ifndef PAR_CORE_FAILURE_H
#define PAR_CORE_FAILURE_H

#include "core/Progress.h"

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace par::rt {

/// Ends the process: a rank that computes cannot be stopped otherwise. The first caller reports, others wait
/// for the end.
class Failure {
public:
  static constexpr int nobody = -1;
  explicit Failure(const ProgressBoard &board) : board(board) {}
  virtual ~Failure() = default;
  /// `culprit`: the rank that others wait for, and where all are is told; `nobody`: that would mislead.
  [[noreturn]] virtual void end(int culprit, const std::string &message) { endHere(culprit, message); }

  /// Where there is no memory for the words of `end`.
  [[noreturn]] static void endWithoutMemory(int rank);

protected:
  /// Called when all is said, before the process ends.
  virtual void beforeExit() {}
  /// `first` is false where another process prints the error line.
  [[noreturn]] void endHere(int culprit, const std::string &message, bool first = true);
  const ProgressBoard &board;

private:
  std::mutex mutex;
};

/// A thread that ends the job when some rank has not called the runtime for `timeout` seconds.
class Watchdog {
public:
  Watchdog(ProgressBoard &board, Failure &failure, double timeout);
  ~Watchdog();
  /// Ranks are watched only between these two.
  void start();
  void stop();

private:
  void watch();

  ProgressBoard &board;
  Failure &failure;
  double timeout;
  std::mutex mutex;
  std::condition_variable changed;
  bool active = false, finished = false;
  std::thread thread;
};

/// Crashes in compiled code name the calling thread's rank instead of only dumping core. Call in the rank's
/// thread.
void installCrashHandler(const RankProgress *progress, int rank, const Program &program);

} // namespace par::rt
#endif
