//===- SearchProgress.h - how far a search has come -------------------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_SEARCHPROGRESS_H
#define PAR_PLANNER_SEARCHPROGRESS_H

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace mlir::par {

/// A search tells this while it runs, for another thread to print.
struct SearchProgress {
  std::atomic<const char *> doing = "weighing plans"; ///< a text that stays
  std::atomic<int64_t> weighed = 0, estimated = 0, compiled = 0;
  std::atomic<double> best = 0; ///< seconds of a step; 0: nothing was found yet
  const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();

  double getSeconds() const; ///< since it began
  /// Says it in one line.
  std::string describe() const;
};

} // namespace mlir::par

#endif // PAR_PLANNER_SEARCHPROGRESS_H
