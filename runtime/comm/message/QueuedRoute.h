/// Messages that a thread moves one after the other, for networks whose sends and receives wait.
#ifndef PAR_COMM_MESSAGE_QUEUEDROUTE_H
#define PAR_COMM_MESSAGE_QUEUEDROUTE_H

#include "comm/Route.h"
#include "device/WorkQueue.h"

#include <functional>
#include <vector>

namespace par::comm {

/// A range of memory of a message.
struct MessagePart {
  char *begin;
  int64_t bytes;
};

class QueuedRoute : public Route {
public:
  /// On the route's thread: moves a whole message, or fails soon after the transport was stopped.
  using Move = std::function<io::Status(const std::vector<MessagePart> &parts)>;

  QueuedRoute(size_t most, size_t buffers, Move move);
  uint64_t post(void *const *buffers, const int64_t *bytes, size_t count) override;
  io::Status wait(uint64_t number) override { return queue.wait(number); }

private:
  const Move move;
  std::vector<std::vector<MessagePart>> ring; ///< message n lies at (n - 1) modulo its size
  uint64_t posted = 0;
  device::WorkQueue queue; ///< last: its thread uses the others
};

} // namespace par::comm
#endif
