/// One row of the logits, wherever its parts are.
#ifndef PAR_GENERATE_LOGITSROW_H
#define PAR_GENERATE_LOGITSROW_H

#include "comm/Transport.h"
#include "core/Arenas.h"

#include <vector>

namespace par::generating {

/// Brings the logits of one position of sequence 0 to rank 0. Every rank has one.
class LogitsRow {
public:
  LogitsRow(const rt::Manifest &manifest, comm::Transport &transport, int rank);
  /// After the schedule `logits`; all ranks together. `row` is the vocabulary's logits on rank 0 and stays
  /// empty elsewhere. Throws rt::Error.
  void read(const rt::Arenas &arenas, int64_t position, std::vector<float> &row);

private:
  void place(size_t member, int64_t position, std::vector<float> &row) const;

  const rt::Output &output;
  comm::Transport &transport;
  const int rank;
  std::vector<int> members; ///< rank 0, and those that hold parts of sequence 0; empty on all others
  size_t firstHolder = 0;   ///< 1 where rank 0 holds none
  comm::Group *group = nullptr;
  std::vector<rt::Shape> begins;  ///< of the members' shards
  std::vector<float> part, parts; ///< own; of all members on rank 0
};

} // namespace par::generating
#endif
