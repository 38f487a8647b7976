#include "comm/local/LocalRoutes.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace par::comm {

int64_t Mailbox::Post::total() const {
  return std::accumulate(bytes.begin(), bytes.begin() + int64_t(count), int64_t(0));
}

bool Mailbox::Post::hasSizesOf(const Post &other) const {
  return count == other.count &&
         std::equal(bytes.begin(), bytes.begin() + int64_t(count), other.bytes.begin());
}

void Mailbox::open(End end, size_t most, size_t buffers) {
  std::lock_guard<std::mutex> lock(mutex);
  posts[end].ring.resize(std::max<size_t>(most, 1));
  posts[end].room = buffers;
  for (Post &post : posts[end].ring) {
    post.buffers.resize(buffers);
    post.bytes.resize(buffers);
  }
  arrivals.resize(std::max(arrivals.size(), posts[end].ring.size()));
}

uint64_t Mailbox::post(End end, void *const *buffers, const int64_t *bytes, size_t count) {
  std::lock_guard<std::mutex> lock(mutex);
  Posts &own = posts[end], &other = posts[1 - end];
  uint64_t number = ++own.given;
  if (number - done > own.ring.size())
    overrun = ends.tooMany(own.ring.size());
  else if (count > own.room)
    overrun = ends.tooManyBuffers(count, own.room);
  if (!overrun.ok()) {
    changed.notify_all();
    return number;
  }
  Post &post = own.at(number);
  std::copy(buffers, buffers + count, post.buffers.begin());
  std::copy(bytes, bytes + count, post.bytes.begin());
  post.count = count;
  if (!failure.ok() || isAborted)
    return number;
  if (other.given >= number)
    move(end, number);
  else if (io::Status status = begin(end, number); !status.ok())
    fail(status);
  return number;
}

void Mailbox::fail(const io::Status &status) {
  failure = status;
  changed.notify_all();
}

io::Status Mailbox::copy(End, uint64_t, const Post &source, const Post &target) {
  for (size_t i = 0; i < target.count; ++i)
    if (target.bytes[i] > 0)
      std::memcpy(target.buffers[i], source.buffers[i], size_t(target.bytes[i]));
  return {};
}

void Mailbox::move(End end, uint64_t number) {
  Post &source = posts[sender].at(number), &target = posts[receiver].at(number);
  if (!source.hasSizesOf(target))
    return fail(ends.unequal(source.total(), target.total()));
  if (io::Status status = copy(end, number, source, target); !status.ok())
    return fail(status);
  bytesCopied += uint64_t(target.total());
  if (link.isEmulated()) {
    std::chrono::duration<double> takes(link.latency + double(target.total()) / link.bytesPerSecond);
    lastArrival = std::max(lastArrival, Clock::now()) + std::chrono::duration_cast<Clock::duration>(takes);
  } else {
    lastArrival = Clock::now();
  }
  arrivals[(number - 1) % arrivals.size()] = lastArrival;
  done = number;
  changed.notify_all();
}

io::Status Mailbox::wait(End end, uint64_t number) {
  std::unique_lock<std::mutex> lock(mutex);
  if (number > posts[end].given)
    return ends.notPosted(number);
  changed.wait(lock, [&] { return done >= number || isAborted || !failure.ok() || !overrun.ok(); });
  if (isAborted)
    return aborted();
  PAR_TRY(overrun);
  if (done < number)
    return failure;
  return link.isEmulated() ? awaitArrival(lock, arrivals[(number - 1) % arrivals.size()]) : io::Status();
}

Route::Clock::time_point Mailbox::endOf(uint64_t number) {
  std::lock_guard<std::mutex> lock(mutex);
  return arrivals[(number - 1) % arrivals.size()];
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
