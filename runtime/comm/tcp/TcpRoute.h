/// One direction of a TCP connection as a route.
#ifndef PAR_COMM_TCP_TCPROUTE_H
#define PAR_COMM_TCP_TCPROUTE_H

#include "comm/Route.h"
#include "comm/RouteEnds.h"
#include "comm/tcp/TcpMover.h"

#include <condition_variable>
#include <sys/uio.h>

namespace par::comm {

/// A message moves when it is posted, as far as the network goes along, and else on the mover's thread. Its
/// length goes before it, so that ends that disagree notice.
class TcpRoute : public Route {
public:
  /// `descriptor` does not block; -1: none was made. `handed` counts bytes that were sent.
  TcpRoute(TcpMover &mover, int descriptor, RouteEnds ends, bool sends, std::atomic<uint64_t> &handed,
           size_t most, size_t buffers);
  ~TcpRoute() override;
  uint64_t post(void *const *buffers, const int64_t *bytes, size_t count) override;
  io::Status wait(uint64_t number) override;
  Clock::time_point endOf(uint64_t number) override;

  /// Moves what can be moved at once. What it waits for then, as poll names it; 0: nothing.
  short moveOn();
  int connection() const { return descriptor; }

private:
  struct Message {
    std::vector<iovec> parts; ///< what is left of its length, then of its buffers
    size_t at = 0;            ///< the first unfinished one
    int64_t total = 0, length = 0;
    Clock::time_point ended;
  };
  enum class Outcome { ended, blocked, failed };

  void fill(Message &message, void *const *buffers, const int64_t *bytes, size_t count);
  Outcome moveSome(Message &message);
  bool advance(Message &message, size_t bytes);
  /// Moves messages until the network blocks; false: nothing is left.
  bool moveFirst();
  io::Status afterLoss(std::unique_lock<std::mutex> &lock);

  TcpMover &mover;
  const int descriptor;
  const RouteEnds ends;
  const bool sends;
  std::atomic<uint64_t> &handed;
  const size_t room;
  std::mutex mutex; ///< of all below
  std::condition_variable changed;
  std::vector<Message> ring; ///< message n lies at (n - 1) modulo its size
  uint64_t posted = 0, done = 0;
  bool lost = false;           ///< the other end closed the connection
  io::Status failure, overrun; ///< of the message that moves, and of a post
};

} // namespace par::comm
#endif
