/// What all transports say of messages that go wrong.
#ifndef PAR_COMM_ROUTEENDS_H
#define PAR_COMM_ROUTEENDS_H

#include "par/io/Status.h"

#include <cstddef>
#include <cstdint>

namespace par::comm {

/// The ranks of a route.
struct RouteEnds {
  int from, to;

  /// Totals; where they are equal, the buffers are not.
  io::Status unequal(int64_t sent, int64_t expected) const;
  io::Status tooMany(size_t most) const;
  io::Status tooManyBuffers(size_t count, size_t room) const;
  io::Status notPosted(uint64_t number) const;
  /// The route's connection was not made.
  io::Status notOpened() const;
};

} // namespace par::comm
#endif
