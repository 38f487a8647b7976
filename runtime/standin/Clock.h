/// Vector clocks: which operations are ordered before another one, whatever the schedule.
#ifndef PAR_STANDIN_CLOCK_H
#define PAR_STANDIN_CLOCK_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace par::standin {

/// By lane: how many of its operations are before.
class Clock {
public:
  void join(const Clock &other) {
    if (times.size() < other.times.size())
      times.resize(other.times.size());
    for (size_t i = 0; i < other.times.size(); ++i)
      times[i] = std::max(times[i], other.times[i]);
  }
  void set(int lane, uint64_t time) {
    if (times.size() <= size_t(lane))
      times.resize(size_t(lane) + 1);
    times[size_t(lane)] = time;
  }
  bool covers(int lane, uint64_t time) const {
    return size_t(lane) < times.size() && times[size_t(lane)] >= time;
  }

private:
  std::vector<uint64_t> times;
};

} // namespace par::standin
#endif
