/// Where lines of metrics go: a log, or something that is read as it is written.
#ifndef PAR_CORE_METRICS_H
#define PAR_CORE_METRICS_H

#include "core/MetricsLines.h"
#include "core/MetricsStream.h"

namespace par::rt {

/// A log appears with its first line. Every line is written whole, so that it can be followed and survives a
/// failure.
class MetricsFile {
public:
  MetricsFile() = default;
  MetricsFile(const MetricsFile &) = delete;
  MetricsFile &operator=(const MetricsFile &) = delete;
  ~MetricsFile();
  /// Throws Error when the file could not be written, or a pipe has no reader. An empty path: no file. What
  /// an earlier part of a resumed run wrote into a file about steps up to `keepSteps` stays.
  void prepare(const std::string &path, int64_t keepSteps);
  bool wanted() const { return !path.empty(); }
  template <typename Report>
  void append(const Report &report) {
    appendLine(metricsLine(format, report) + "\n");
  }
  /// What was left out, in one line with its end, or nothing.
  std::string note() const { return stream.isOpen() ? stream.note() : ""; }

private:
  void appendLine(const std::string &line);
  void start();

  std::string path, kept;
  MetricsFormat format = MetricsFormat::json;
  MetricsStream stream;
  int descriptor = -1;
};

} // namespace par::rt
#endif
