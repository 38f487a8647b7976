#include "comm/local/LocalRoutes.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>

namespace par::comm {

int64_t Mailbox::Post::total() const {
  return std::accumulate(bytes.begin(), bytes.begin() + int64_t(count), int64_t(0));
}

void Mailbox::open(End end, size_t most, size_t buffers) {
  std::lock_guard<std::mutex> lock(mutex);
  posts[end].ring.resize(std::max<size_t>(most, 1));
  for (Post &post : posts[end].ring) {
    post.buffers.resize(buffers);
    post.bytes.resize(buffers);
  }
  arrivals.resize(std::max(arrivals.size(), posts[end].ring.size()));
}

uint64_t Mailbox::post(End end, void *const *buffers, const int64_t *bytes, size_t count) {
  std::lock_guard<std::mutex> lock(mutex);
  Posts &own = posts[end], &other = posts[1 - end];
  uint64_t number = own.given + 1;
  if (number - done > own.ring.size()) {
    failure = io::Status::error("more than " + std::to_string(own.ring.size()) + " messages from rank " +
                                std::to_string(from) + " to rank " + std::to_string(to) + " are under way");
    changed.notify_all();
    return number;
  }
  Post &post = own.at(++own.given);
  std::copy(buffers, buffers + count, post.buffers.begin());
  std::copy(bytes, bytes + count, post.bytes.begin());
  post.count = count;
  if (other.given >= number && failure.ok() && !isAborted)
    move(number);
  return number;
}

void Mailbox::move(uint64_t number) {
  Post &source = posts[sender].at(number), &target = posts[receiver].at(number);
  if (source.count != target.count || source.total() != target.total()) {
    failure = io::Status::error("rank " + std::to_string(from) + " sends " + std::to_string(source.total()) +
                                " bytes to rank " + std::to_string(to) + ", which expects " +
                                std::to_string(target.total()));
    changed.notify_all();
    return;
  }
  for (size_t i = 0; i < target.count; ++i)
    std::memcpy(target.buffers[i], source.buffers[i], size_t(std::min(target.bytes[i], source.bytes[i])));
  bytesCopied += uint64_t(target.total());
  if (link.isEmulated()) {
    std::chrono::duration<double> takes(link.latency + double(target.total()) / link.bytesPerSecond);
    lastArrival = std::max(lastArrival, Clock::now()) + std::chrono::duration_cast<Clock::duration>(takes);
    arrivals[(number - 1) % arrivals.size()] = lastArrival;
  }
  done = number;
  changed.notify_all();
}

io::Status Mailbox::wait(uint64_t number) {
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return done >= number || isAborted || !failure.ok(); });
  if (isAborted)
    return aborted();
  if (done < number)
    return failure;
  return link.isEmulated() ? awaitArrival(lock, arrivals[(number - 1) % arrivals.size()]) : io::Status();
}

io::Status Mailbox::awaitArrival(std::unique_lock<std::mutex> &lock, Clock::time_point arrival) {
  changed.wait_until(lock, arrival, [&] { return isAborted || Clock::now() >= arrival; });
  return isAborted ? aborted() : io::Status();
}

void Mailbox::abort() {
  std::lock_guard<std::mutex> lock(mutex);
  isAborted = true;
  changed.notify_all();
}

} // namespace par::comm
