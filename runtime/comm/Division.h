/// What a transport is told of all groups of a job, before it connects any of them.
#ifndef PAR_COMM_DIVISION_H
#define PAR_COMM_DIVISION_H

#include <utility>
#include <vector>

namespace par::comm {

/// A group that ranks make together: channel and ranks, in their order. Collectives that agree share it.
using GroupKey = std::pair<int, std::vector<int>>;

/// The channel of a pair of ranks of which the first sends the second messages: no collective is on it.
constexpr int messageChannel = -1;

/// Groups that share no rank, so that all of them may be made at once.
using Division = std::vector<GroupKey>;

} // namespace par::comm
#endif
