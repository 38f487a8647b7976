#include "comm/tcp/TcpRoute.h"

#include <cerrno>
#include <chrono>
#include <numeric>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <thread>

namespace par::comm {

static io::Status endedStatus() { return io::Status::error("the job was ended"); }

/// The control channel knows better which process is gone and why: it gets the time to say so.
static io::Status gone(const TcpEnd &end) {
  for (int i = 0; i < 200 && !end.stopped; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return end.stopped ? endedStatus()
                     : io::Status::error("rank " + std::to_string(end.other) + " closed its connection");
}

static void sleep(const TcpEnd &end, bool sends) {
  pollfd entries[2] = {{end.descriptor, short(sends ? POLLOUT : POLLIN), 0}, {end.wakeUp, POLLIN, 0}};
  poll(entries, 2, 1000);
}

static io::Status move(const TcpEnd &end, bool sends, char *next, int64_t left) {
  while (left > 0) {
    if (end.stopped)
      return endedStatus();
    size_t bytes = size_t(std::min<int64_t>(left, 1 << 30));
    ssize_t moved =
        sends ? send(end.descriptor, next, bytes, MSG_NOSIGNAL) : recv(end.descriptor, next, bytes, 0);
    if (moved > 0)
      next += moved, left -= moved;
    else if (moved < 0 && errno == EAGAIN)
      sleep(end, sends);
    else if (moved == 0 || errno != EINTR)
      return gone(end);
  }
  return {};
}

/// Its length goes before a message, so that ends that disagree notice.
static io::Status moveMessage(const TcpEnd &end, bool sends, const std::vector<MessagePart> &parts) {
  int64_t total = 0;
  for (const MessagePart &part : parts)
    total += part.bytes;
  int64_t length = total;
  PAR_TRY(move(end, sends, reinterpret_cast<char *>(&length), sizeof(length)));
  if (length != total)
    return io::Status::error("rank " + std::to_string(end.other) + " sends " + std::to_string(length) +
                             " bytes to rank " + std::to_string(end.rank) + ", which expects " +
                             std::to_string(total));
  for (const MessagePart &part : parts)
    PAR_TRY(move(end, sends, part.begin, part.bytes));
  if (sends)
    end.handed += uint64_t(total);
  return {};
}

std::unique_ptr<Route> makeTcpRoute(const TcpEnd &end, bool sends, size_t most, size_t buffers) {
  return std::make_unique<QueuedRoute>(most, buffers, [end, sends](const std::vector<MessagePart> &parts) {
    return moveMessage(end, sends, parts);
  });
}

} // namespace par::comm
