/// Work beside computation: a queue with a thread of its own.
#ifndef PAR_DEVICE_WORKQUEUE_H
#define PAR_DEVICE_WORKQUEUE_H

#include "device/Queue.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace par::device {

/// What is called on the thread of a queue: `begin` first of all, while the queue is made, `before` each
/// piece of work.
struct QueueHooks {
  std::function<void()> begin, before;
};

/// Collectives and transfers of a CPU run on such queues. Waits sleep; nothing is allocated after
/// construction.
class WorkQueue : public Queue {
public:
  /// `most`: pieces of work that are under way at once; one more waits until one of them has ended.
  explicit WorkQueue(size_t most, QueueHooks hooks = {});
  /// After what is under way.
  ~WorkQueue() override;

  uint64_t enqueue(const Work &work) override;
  uint64_t record() override { return given; }
  bool happened(uint64_t event) override;
  io::Status wait(uint64_t event) override;
  void fail(const io::Status &status) override;

private:
  void run();
  void awaitBegin();

  const QueueHooks hooks;
  std::mutex mutex;
  std::condition_variable added, ended;
  std::vector<Work> ring;       ///< work n lies at (n - 1) modulo its size
  uint64_t given = 0, done = 0; ///< pieces of work
  io::Status failure;           ///< of the first that failed
  bool begun = false, stopping = false;
  std::thread thread; ///< last: it uses the others
};

} // namespace par::device
#endif
