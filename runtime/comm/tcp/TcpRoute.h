/// One direction of a TCP connection as a route.
#ifndef PAR_COMM_TCP_TCPROUTE_H
#define PAR_COMM_TCP_TCPROUTE_H

#include "comm/message/QueuedRoute.h"

#include <atomic>
#include <memory>

namespace par::comm {

/// What the routes of a process need of its connections.
struct TcpEnd {
  int descriptor; ///< does not block
  int wakeUp;     ///< readable once the transport was stopped
  int rank, other;
  const std::atomic<bool> &stopped;
  std::atomic<uint64_t> &handed; ///< bytes that the network took
};

std::unique_ptr<Route> makeTcpRoute(const TcpEnd &end, bool sends, size_t most, size_t buffers);

} // namespace par::comm
#endif
