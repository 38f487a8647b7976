/// Messages from one rank to another one, beside collectives.
#ifndef PAR_COMM_ROUTE_H
#define PAR_COMM_ROUTE_H

#include "par/io/Status.h"

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace par::comm {

/// One end of the way from a rank to another. Messages go in order. One thread at a time uses it, beside one
/// that runs collectives. (NCCL: ncclSend or ncclRecv on a stream of their own.)
class Route {
public:
  virtual ~Route() = default;

  /// Begins the next message and returns its number, from 1 on, at once. The memory of its buffers, which the
  /// host reaches, is the message's until `wait` returned. Both ends name buffers of the same sizes. A
  /// message may end only when both ends have posted it.
  virtual uint64_t post(void *const *buffers, const int64_t *bytes, size_t count) = 0;

  /// Returns when message `number` has ended here: what was sent may be written, what is received is there.
  /// An error when the other end posted other sizes (at the receiver, at least), or after Transport::abort.
  virtual io::Status wait(uint64_t number) = 0;

  using Clock = std::chrono::steady_clock;
  /// When a message ended here that the last `wait` was for. Now, where a transport looks only in waits.
  virtual Clock::time_point endOf(uint64_t number) {
    (void)number;
    return Clock::now();
  }
};

} // namespace par::comm
#endif
