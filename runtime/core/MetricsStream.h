/// Metrics to whoever reads them as they are written: a named pipe, a terminal, standard output.
#ifndef PAR_CORE_METRICSSTREAM_H
#define PAR_CORE_METRICSSTREAM_H

#include <cstdint>
#include <string>

namespace par::rt {

/// No step waits for a reader for more than a second: lines are then left out, and counted, until it reads
/// again. Every line arrives whole or not at all.
class MetricsStream {
public:
  MetricsStream() = default;
  MetricsStream(const MetricsStream &) = delete;
  MetricsStream &operator=(const MetricsStream &) = delete;
  ~MetricsStream();

  /// Whether a path is something else than a file of its own; what standard output goes to is.
  static bool isStream(const std::string &path);

  /// Throws Error when nobody reads, or it cannot be written.
  void open(const std::string &path);
  bool isOpen() const { return descriptor >= 0; }
  /// Throws Error when it cannot be written, which is not to say that nobody reads.
  void append(const std::string &line);
  /// How many lines were left out, in one line with its end, or nothing.
  std::string note() const;

private:
  bool sendPending();

  std::string path, pending; ///< the latter: what is still to come of a line that has begun
  int descriptor = -1;
  bool hasReader = true; ///< that did not let us wait in vain since it last read
  int64_t leftOut = 0;
};

} // namespace par::rt
#endif
