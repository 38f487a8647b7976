#include "comm/local/Futex.h"

#include <climits>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace par::comm {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t), "a futex is a plain 32-bit word");

static void futexWait(std::atomic<uint32_t> &word, uint32_t expected) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

static void futexWakeAll(std::atomic<uint32_t> &word) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

bool FutexBarrier::wait() {
  if (aborted)
    return false;
  uint32_t now = generation.load(std::memory_order_acquire);
  if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == members) {
    arrived.store(0, std::memory_order_relaxed);
    generation.fetch_add(1, std::memory_order_release);
    futexWakeAll(generation);
    return !aborted;
  }
  while (generation.load(std::memory_order_acquire) == now && !aborted)
    futexWait(generation, now);
  return !aborted;
}

void FutexBarrier::abort() {
  aborted = true;
  // The word changes, so that a member about to sleep on its old value does not.
  generation.fetch_add(1, std::memory_order_release);
  futexWakeAll(generation);
}

} // namespace par::comm
