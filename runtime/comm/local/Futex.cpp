#include "comm/local/Futex.h"

#include "device/Futex.h"

namespace par::comm {

using device::futexWait;
using device::futexWakeAll;

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
