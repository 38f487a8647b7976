/// One line on a terminal that is written over again and again; nothing where standard error is no terminal.
#ifndef PAR_DATA_PROGRESSLINE_H
#define PAR_DATA_PROGRESSLINE_H

#include <chrono>
#include <cstdint>
#include <string>

namespace par::data {

class ProgressLine {
public:
  explicit ProgressLine(std::string name);
  ~ProgressLine();
  /// At most some times per second.
  void show(uint64_t done, uint64_t total);
  double seconds() const;

private:
  using Clock = std::chrono::steady_clock;
  std::string name;
  bool terminal;
  bool shown = false;
  Clock::time_point start = Clock::now(), last = start;
};

} // namespace par::data
#endif
