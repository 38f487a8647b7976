/// Time in which a process was not there itself: stopped by a signal, or its machine was suspended.
#ifndef PAR_COMM_PROCESS_LOSTTIME_H
#define PAR_COMM_PROCESS_LOSTTIME_H

#include "comm/process/Socket.h"

namespace par::comm {

/// For a thread that looks every `period` whether others are silent. What they did while it could not look is
/// not known, so that time is not held against them.
class LostTime {
public:
  explicit LostTime(double period)
      : period(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(period))) {}
  /// What was lost since the call before; none in a turn that took about as long as it should.
  Clock::duration take() {
    Clock::duration turn = Clock::now() - last;
    last += turn;
    return turn > 2 * period + std::chrono::milliseconds(200) ? turn - period : Clock::duration::zero();
  }

private:
  const Clock::duration period;
  Clock::time_point last = Clock::now();
};

} // namespace par::comm
#endif
