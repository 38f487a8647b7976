/// Point-to-point messages between the processes of a job: what a library or a network has to give for a
/// transport.
#ifndef PAR_COMM_MESSAGE_MESSAGES_H
#define PAR_COMM_MESSAGE_MESSAGES_H

#include "comm/Transport.h"

#include <atomic>
#include <memory>

namespace par::comm {

/// A message to or from a member of a group. Messages between the same two members are matched in order.
struct Message {
  int member;
  void *data;
  int64_t bytes;
};

class Messages {
public:
  virtual ~Messages() = default;
  virtual std::unique_ptr<Group> group(const std::vector<int> &ranks, int member) = 0;
  /// Sends and receives all of these at once; returns when all are done, or with an error soon after `stop`.
  virtual io::Status exchange(Group &group, const std::vector<Message> &sends,
                              const std::vector<Message> &receives) = 0;
  /// Connects what routes need. Every rank calls it, before `route`.
  virtual io::Status openRoutes() { return {}; }
  /// See Transport::route. Messages of routes go on beside exchanges, which another thread may be in.
  virtual std::unique_ptr<Route> route(int other, bool sends, size_t most, size_t buffers) = 0;
  /// See Transport::shareCores.
  virtual void shareCores() {}
  /// Makes every exchange fail, now and later. Callable from any thread.
  virtual void stop() = 0;
  /// See Transport::handedOver.
  uint64_t handedOver() const { return handed; }

protected:
  std::atomic<uint64_t> handed{0}; ///< bytes that the network took
};

} // namespace par::comm
#endif
