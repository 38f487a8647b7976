#include "comm/message/QueuedRoute.h"

#include <algorithm>

namespace par::comm {

QueuedRoute::QueuedRoute(size_t most, size_t buffers, Move given)
    : move(std::move(given)), ring(std::max<size_t>(most, 1)), queue(ring.size()) {
  for (std::vector<MessagePart> &parts : ring)
    parts.reserve(buffers);
}

/// The queue has as much room as the ring: where that is full, it waits for the oldest message, whose parts
/// nobody reads any more then.
uint64_t QueuedRoute::post(void *const *buffers, const int64_t *bytes, size_t count) {
  if (posted >= ring.size())
    (void)queue.wait(posted + 1 - ring.size()); // a failure is the next wait's
  std::vector<MessagePart> &parts = ring[posted++ % ring.size()];
  parts.clear();
  for (size_t i = 0; i < count; ++i)
    parts.push_back({static_cast<char *>(buffers[i]), bytes[i]});
  return queue.enqueue([this, moved = &parts] { return move(*moved); });
}

} // namespace par::comm
