/// Copies between a rank's memories beside computation.
#ifndef PAR_CORE_TRANSFERTHREAD_H
#define PAR_CORE_TRANSFERTHREAD_H

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace par::rt {

/// Copies run one after the other, in the order in which they were started. Waits sleep; nothing is allocated
/// after construction.
class TransferThread {
public:
  /// What is called on the thread: `begin` first of all, while it is made, `before` each copy.
  struct Hooks {
    std::function<void()> begin, before;
  };

  /// `most`: copies that are under way at once; one more waits until one of them has ended.
  TransferThread(size_t most, Hooks hooks);
  /// After what is under way.
  ~TransferThread();

  /// Begins a copy between ranges that do not overlap, and returns its ticket.
  uint64_t start(void *destination, const void *source, size_t bytes);

  /// Returns when the copy of this ticket, and so all before it, have ended.
  void wait(uint64_t ticket);

private:
  struct Copy {
    void *destination;
    const void *source;
    size_t bytes;
  };
  void work();
  void awaitBegin();

  const Hooks hooks;
  std::mutex mutex;
  std::condition_variable given, ended;
  std::vector<Copy> copies;       ///< ring: ticket t lies at (t - 1) modulo its size
  uint64_t started = 0, done = 0; ///< tickets
  bool begun = false, stopping = false;
  std::thread thread; ///< last: it uses the others
};

} // namespace par::rt
#endif
