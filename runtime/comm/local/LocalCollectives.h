/// The data movement of every collective between threads, without scratch memory.
#ifndef PAR_COMM_LOCAL_LOCALCOLLECTIVES_H
#define PAR_COMM_LOCAL_LOCALCOLLECTIVES_H

#include "comm/Collective.h"
#include "comm/local/Futex.h"

namespace par::comm {

/// Buffers of all members of a group for one tensor, as member `self` sees them.
struct LocalExchange {
  const Collective &collective;
  int members, self;
  void *const *const *buffers; ///< per member: sources, then destinations
  size_t tensor;
  uint64_t *moved; ///< counts what member `self` moves between buffers of two members, or reads to reduce

  char *source(int member) const { return static_cast<char *>(buffers[member][tensor]); }
  char *destination(int member) const {
    return static_cast<char *>(buffers[member][collective.counts.size() + tensor]);
  }
  int64_t count() const { return collective.counts[tensor]; }
};

/// Whether some data may only be overwritten when every member has done its first part: depends on kind and
/// on whether some member's source is its destination, so all members agree.
bool needsSecond(const LocalExchange &exchange);
/// The first part of the work of member `self`.
void moveFirst(const LocalExchange &exchange, bool second);
/// The second part, after all members have met.
void moveSecond(const LocalExchange &exchange);

} // namespace par::comm
#endif
