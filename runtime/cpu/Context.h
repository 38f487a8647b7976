/// What the CPU entry points may know of their rank.
#ifndef PAR_CPU_CONTEXT_H
#define PAR_CPU_CONTEXT_H

#include "cpu/CpuDevice.h"

namespace par::cpu {

inline device::Context &contextOf(void *context) {
  return *static_cast<device::Context *>(static_cast<par_context *>(context));
}

/// Null: the rank's own thread only.
inline Pool *poolOf(void *context) {
  device::Device *device = contextOf(context).device;
  return device ? static_cast<CpuDevice *>(device)->threads() : nullptr;
}

/// The counter of pairs that attention computes; null: nobody counts.
inline std::atomic<int64_t> *pairsOf(void *context, bool backward) {
  device::Device *device = contextOf(context).device;
  return device ? &static_cast<CpuDevice *>(device)->countedPairs(backward) : nullptr;
}

/// Says that the rank is alive. Only its own thread writes the counter.
inline void beat(void *context) {
  if (std::atomic<uint64_t> *beats = contextOf(context).beats)
    beats->store(beats->load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

/// Threads that are started from now on have a stack of 8 MiB at least, whatever the limit for stacks is. The
/// first thread's is what that limit says.
void ensureThreadStacks();

/// Processors that this process may use.
int availableCores();

} // namespace par::cpu
#endif
