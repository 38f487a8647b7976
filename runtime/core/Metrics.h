/// What is told about every step: lines of JSON in a file (tools' contract, item 11), short lines on standard
/// output.
#ifndef PAR_CORE_METRICS_H
#define PAR_CORE_METRICS_H

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace par::rt {

struct StepReport {
  int64_t step = 0;
  bool isEmulated = false; ///< nothing was computed: there is no loss
  float loss = 0, gradNorm = 0;
  double lr = 0, seconds = 0;
  int64_t tokens = 0;
  int64_t peakBytes = 0, hostPeakBytes = 0;  ///< the latter 0 without an arena in host memory
  std::map<std::string, uint64_t> sentBytes; ///< by "kind:axis+axis"
  // Of the first step that a run takes; nothing in the lines of others. A line of 16,384 ranks would be 100
  // kB.
  std::string dataHash;
  std::vector<int64_t> pids; ///< one per rank
  // Of the last step that a run takes: peakBytes and hostPeakBytes of every rank.
  std::vector<int64_t> peaks, hostPeaks;
  /// Of the same step where ranks have different programs: of the rank that sends most of a kind.
  std::map<std::string, uint64_t> mostSentBytes;
};

/// The shortest of the two usual lengths that reads back as the same value, or the string "nan", "inf" or
/// "-inf".
std::string jsonNumber(double value);

/// The line of JSON, without its end of line. A number that is not finite is the string "nan", "inf" or
/// "-inf".
std::string metricsLine(const StepReport &report);

/// A log that appears with its first line. Every line is written whole, so that it can be followed and
/// survives a failure.
class MetricsFile {
public:
  MetricsFile() = default;
  MetricsFile(const MetricsFile &) = delete;
  MetricsFile &operator=(const MetricsFile &) = delete;
  ~MetricsFile();
  /// Throws Error when the file could not be written. An empty path: no file. What an earlier part of a
  /// resumed run wrote about steps up to `keepSteps` stays.
  void prepare(const std::string &path, int64_t keepSteps);
  bool wanted() const { return !path.empty(); }
  void append(const std::string &line);

private:
  void start();

  std::string path, kept;
  int descriptor = -1;
};

/// Ten lines a second at most on a terminal, about ten per run elsewhere.
class ProgressPrinter {
public:
  explicit ProgressPrinter(int64_t steps);
  void print(const StepReport &report, bool last);

private:
  using Clock = std::chrono::steady_clock;
  bool due(int64_t step) const;

  int64_t steps;
  bool terminal;
  int64_t every; ///< steps between lines where nobody watches
  Clock::time_point printed{};
};

} // namespace par::rt
#endif
