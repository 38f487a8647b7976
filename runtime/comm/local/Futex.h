/// Blocking rendezvous of threads on Linux futexes. Nothing spins: ranks usually outnumber cores.
#ifndef PAR_COMM_LOCAL_FUTEX_H
#define PAR_COMM_LOCAL_FUTEX_H

#include <atomic>
#include <cstdint>

namespace par::comm {

/// A reusable barrier. What a member wrote before `wait` is visible to every member after it.
class FutexBarrier {
public:
  explicit FutexBarrier(int members) : members(uint32_t(members)) {}
  /// False when the barrier was aborted, now or earlier.
  bool wait();
  /// Wakes all waiting members and makes every later wait fail.
  void abort();

private:
  const uint32_t members;
  std::atomic<uint32_t> arrived{0};
  std::atomic<uint32_t> generation{0};
  std::atomic<bool> aborted{false};
};

} // namespace par::comm
#endif
