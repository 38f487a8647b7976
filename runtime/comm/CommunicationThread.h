/// Communication beside computation: a rank's thread on which collectives run.
#ifndef PAR_COMM_COMMUNICATIONTHREAD_H
#define PAR_COMM_COMMUNICATIONTHREAD_H

#include "comm/Transport.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace par::comm {

/// Collectives run one after the other, in the order in which they were started. While any is under way
/// nobody else may call the transport. Waits sleep; nothing is allocated after construction.
class CommunicationThread {
public:
  /// What is called on the thread: `begin` first of all, while it is made, `before` each collective.
  struct Hooks {
    std::function<void()> begin, before;
  };

  /// `most`: collectives that are under way at once.
  CommunicationThread(Transport &transport, size_t most, Hooks hooks);
  /// Waits for what is under way; Transport::abort ends that early.
  ~CommunicationThread();

  /// Begins a collective (see Transport::run) and returns its ticket. All that is given lives until it has
  /// ended.
  uint64_t start(Group &group, const Collective &collective, void *const *buffers, uint64_t *sent);

  /// Returns when the collective of this ticket, and so all before it, have ended. After a failure nothing
  /// runs any more, and all that had not ended have its status.
  io::Status wait(uint64_t ticket);

private:
  struct Task {
    Group *group;
    const Collective *collective;
    void *const *buffers;
    uint64_t *sent;
  };
  void work();
  void awaitBegin();

  Transport &transport;
  const Hooks hooks;
  std::mutex mutex;
  std::condition_variable given, ended;
  std::vector<Task> tasks;        ///< ring: ticket t lies at (t - 1) modulo its size
  uint64_t started = 0, done = 0; ///< tickets
  io::Status failure;             ///< of the first collective that failed
  bool begun = false, stopping = false;
  std::thread thread; ///< last: it uses the others
};

} // namespace par::comm
#endif
