/// Messages between threads of one process.
#ifndef PAR_COMM_LOCAL_LOCALROUTES_H
#define PAR_COMM_LOCAL_LOCALROUTES_H

#include "comm/Route.h"
#include "comm/RouteEnds.h"
#include "comm/local/LocalTransport.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <vector>

namespace par::comm {

/// The messages from one rank to another. Whoever posts the second end of a message copies it.
class Mailbox {
public:
  Mailbox(RouteEnds ends, EmulatedLink link) : ends(ends), link(link) {}
  virtual ~Mailbox() = default;

  enum End { receiver, sender };
  /// Makes room for messages of up to `buffers` buffers, `most` under way at once.
  void open(End end, size_t most, size_t buffers);
  uint64_t post(End end, void *const *buffers, const int64_t *bytes, size_t count);
  io::Status wait(End end, uint64_t number);
  Route::Clock::time_point endOf(uint64_t number);
  void abort();
  /// Bytes that it has copied. Not while anything is under way.
  uint64_t copied() const { return bytesCopied; }

protected:
  struct Post {
    std::vector<void *> buffers;
    std::vector<int64_t> bytes;
    size_t count = 0;
    int64_t total() const;
    bool hasSizesOf(const Post &other) const;
  };
  // Both are called under the lock, by the thread that posts `end`.
  /// The first end of a message is there.
  virtual io::Status begin(End, uint64_t /*number*/) { return {}; }
  /// Both are.
  virtual io::Status copy(End end, uint64_t number, const Post &source, const Post &target);

  std::mutex mutex;

private:
  using Clock = std::chrono::steady_clock;
  struct Posts {
    std::vector<Post> ring; ///< number n lies at (n - 1) modulo its size
    uint64_t given = 0;
    size_t room = 0; ///< buffers of a message
    Post &at(uint64_t number) { return ring[(number - 1) % ring.size()]; }
  };

  void move(End end, uint64_t number);
  void fail(const io::Status &status);
  io::Status awaitArrival(std::unique_lock<std::mutex> &lock, Clock::time_point arrival);
  io::Status aborted() const { return io::Status::error("the job was ended"); }

  const RouteEnds ends;
  const EmulatedLink link;
  std::condition_variable changed;
  Posts posts[2];
  uint64_t done = 0; ///< messages that were copied
  std::vector<Clock::time_point> arrivals;
  Clock::time_point lastArrival;
  uint64_t bytesCopied = 0;
  io::Status failure, overrun; ///< of a pair of posts, and of a post alone
  bool isAborted = false;
};

/// One end of a mailbox.
class LocalRoute : public Route {
public:
  LocalRoute(Mailbox &mailbox, Mailbox::End end) : mailbox(mailbox), end(end) {}
  uint64_t post(void *const *buffers, const int64_t *bytes, size_t count) override {
    return mailbox.post(end, buffers, bytes, count);
  }
  io::Status wait(uint64_t number) override { return mailbox.wait(end, number); }
  Clock::time_point endOf(uint64_t number) override { return mailbox.endOf(number); }

private:
  Mailbox &mailbox;
  const Mailbox::End end;
};

} // namespace par::comm
#endif
