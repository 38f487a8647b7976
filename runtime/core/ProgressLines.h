/// What is said of steps while a run lasts: a bar on a terminal, lines elsewhere.
#ifndef PAR_CORE_PROGRESSLINES_H
#define PAR_CORE_PROGRESSLINES_H

#include "core/Reports.h"

#include <chrono>

namespace par::rt {

/// "0:07", "1:02:03"
std::string formatDuration(double seconds);

/// Appends "[####----]" of so many columns, or nothing where there is no room for one.
void appendBar(double share, int columns, std::string &line);

/// With --log-every N a line after every N steps and the last one. Else a bar where there can be one, drawn
/// again ten times a second at most; elsewhere a line every five seconds, and for the first step and the last
/// one.
struct ProgressRhythm {
  int64_t first; ///< the step before the run's own
  int64_t every; ///< --log-every, 0 = not given
  bool showsBar;
  bool isDue(int64_t step, bool last, std::chrono::nanoseconds sinceLine) const;
};

/// Nothing is allocated once it is made.
class ProgressPrinter {
public:
  /// Of steps `first` + 1 … `steps`; `every` = --log-every, 0 = not given.
  ProgressPrinter(int64_t first, int64_t steps, int64_t every);
  void print(const StepReport &report, bool last);

private:
  using Clock = std::chrono::steady_clock;
  /// Makes `text`, of a step and of the steps since the last line.
  void describe(const StepReport &report);

  static constexpr size_t mostText = 512;

  const ProgressRhythm rhythm;
  const int64_t steps;
  Clock::time_point begun = Clock::now(), printed{};
  double seconds = 0; ///< that steps took since the last line
  int64_t tokens = 0; ///< of those steps
  std::string line, text;
};

} // namespace par::rt
#endif
