/// Ranks as threads that exchange again and again.
#ifndef PAR_MEASURE_RANKTHREADS_H
#define PAR_MEASURE_RANKTHREADS_H

#include "comm/Transport.h"

#include <functional>
#include <memory>

namespace par::measure {

/// What a rank holds and does; made on the rank's own thread.
class RankWork {
public:
  virtual ~RankWork() = default;
  /// Once, with all other ranks.
  virtual io::Status run() = 0;
};

using MakeRankWork = std::function<std::unique_ptr<RankWork>(comm::Transport &, comm::Group &, int rank)>;

/// Seconds of one run of all ranks: the median of several loops. `beside` is called once while ranks run
/// again and again; what it takes does not count. Throws std::runtime_error where a rank fails.
double measureRanks(int ranks, const MakeRankWork &make, const std::function<void()> &beside = nullptr);

} // namespace par::measure
#endif
