#include "comm/tcp/TcpRoute.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <numeric>
#include <string>
#include <sys/socket.h>

namespace par::comm {

/// One after the other route moves so much at most: none holds up the rest, nor a post.
static constexpr int64_t share = 1 << 20;
/// Ranges of memory that one call of the kernel is given.
static constexpr size_t mostParts = 64;

TcpRoute::TcpRoute(TcpMover &mover, int descriptor, RouteEnds ends, bool sends, std::atomic<uint64_t> &handed,
                   size_t most, size_t buffers)
    : mover(mover), descriptor(descriptor), ends(ends), sends(sends), handed(handed), room(buffers),
      ring(std::max<size_t>(most, 1)) {
  for (Message &message : ring)
    message.parts.reserve(buffers + 1);
  if (descriptor < 0)
    failure = ends.notOpened();
  mover.add(*this);
}

TcpRoute::~TcpRoute() { mover.remove(*this); }

void TcpRoute::fill(Message &message, void *const *buffers, const int64_t *bytes, size_t count) {
  message.total = message.length = std::accumulate(bytes, bytes + count, int64_t(0));
  message.at = 0;
  message.parts.clear();
  message.parts.push_back({&message.length, sizeof(message.length)});
  for (size_t i = 0; i < count; ++i)
    message.parts.push_back({buffers[i], size_t(bytes[i])});
}

uint64_t TcpRoute::post(void *const *buffers, const int64_t *bytes, size_t count) {
  std::lock_guard<std::mutex> lock(mutex);
  uint64_t number = ++posted;
  if (number - done > ring.size())
    overrun = ends.tooMany(ring.size());
  else if (count > room)
    overrun = ends.tooManyBuffers(count, room);
  if (!overrun.ok() || !failure.ok())
    return number;
  fill(ring[(number - 1) % ring.size()], buffers, bytes, count);
  if (done + 1 == number && moveFirst())
    mover.wake();
  return number;
}

/// Whether the message goes on: a receiver knows its length first.
bool TcpRoute::advance(Message &message, size_t bytes) {
  bool atLength = message.at == 0;
  std::vector<iovec> &parts = message.parts;
  while (message.at < parts.size() && bytes >= parts[message.at].iov_len)
    bytes -= parts[message.at++].iov_len;
  if (message.at < parts.size()) {
    iovec &part = parts[message.at];
    part = {static_cast<char *>(part.iov_base) + bytes, part.iov_len - bytes};
  }
  if (sends || !atLength || message.at == 0 || message.length == message.total)
    return true;
  failure = ends.unequal(message.length, message.total);
  return false;
}

TcpRoute::Outcome TcpRoute::moveSome(Message &message) {
  int64_t left = share;
  while (message.at < message.parts.size()) {
    if (left <= 0)
      return Outcome::blocked;
    msghdr header{};
    header.msg_iov = &message.parts[message.at];
    size_t parts = std::min(message.parts.size() - message.at, mostParts);
    header.msg_iovlen = !sends && message.at == 0 ? 1 : parts;
    ssize_t moved = sends ? sendmsg(descriptor, &header, MSG_NOSIGNAL | MSG_DONTWAIT)
                          : recvmsg(descriptor, &header, MSG_DONTWAIT);
    if (moved > 0) {
      left -= moved;
      if (!advance(message, size_t(moved)))
        return Outcome::failed;
    } else if (moved < 0 && errno == EAGAIN) {
      return Outcome::blocked;
    } else if (moved == 0 || errno != EINTR) {
      lost = true;
      failure =
          io::Status::error("rank " + std::to_string(sends ? ends.to : ends.from) + " closed its connection");
      return Outcome::failed;
    }
  }
  return Outcome::ended;
}

bool TcpRoute::moveFirst() {
  if (!failure.ok() || !overrun.ok() || mover.isStopped() || done == posted) {
    changed.notify_all();
    return false;
  }
  Message &message = ring[done % ring.size()];
  Outcome outcome = moveSome(message);
  if (outcome == Outcome::blocked)
    return true;
  if (outcome == Outcome::ended) {
    ++done;
    message.ended = Clock::now();
    handed += sends ? uint64_t(message.total) : 0;
  }
  changed.notify_all();
  return outcome == Outcome::ended && done < posted;
}

short TcpRoute::moveOn() {
  std::lock_guard<std::mutex> lock(mutex);
  return !moveFirst() ? 0 : sends ? POLLOUT : POLLIN;
}

/// The control channel knows better which process is gone and why: it gets the time to say so.
io::Status TcpRoute::afterLoss(std::unique_lock<std::mutex> &lock) {
  if (lost)
    changed.wait_for(lock, std::chrono::seconds(2), [&] { return mover.isStopped(); });
  return mover.isStopped() ? io::Status::error("the job was ended") : failure;
}

io::Status TcpRoute::wait(uint64_t number) {
  std::unique_lock<std::mutex> lock(mutex);
  if (number > posted)
    return ends.notPosted(number);
  changed.wait(lock, [&] { return done >= number || !overrun.ok() || !failure.ok() || mover.isStopped(); });
  PAR_TRY(overrun);
  return done >= number ? io::Status() : afterLoss(lock);
}

Route::Clock::time_point TcpRoute::endOf(uint64_t number) {
  std::lock_guard<std::mutex> lock(mutex);
  return ring[(number - 1) % ring.size()].ended;
}

} // namespace par::comm
