/// What the CPU entry points may know of their rank.
#ifndef PAR_CPU_CONTEXT_H
#define PAR_CPU_CONTEXT_H

#include "cpu/Pool.h"
#include "par/runtime.h"

#include <atomic>
#include <cstdint>

namespace par::cpu {

struct CpuContext : par_context {
  std::atomic<uint64_t> *beats = nullptr; ///< counted up by this rank at every entry point; null in tests
  bool poison = false;                    ///< dead ranges are filled with NaN
  Pool *pool = nullptr;                   ///< null: the rank's own thread only
};

inline Pool *poolOf(void *context) {
  return static_cast<CpuContext *>(static_cast<par_context *>(context))->pool;
}

/// Says that the rank is alive. Only its own thread writes the counter.
inline void beat(void *context) {
  std::atomic<uint64_t> *beats = static_cast<CpuContext *>(static_cast<par_context *>(context))->beats;
  if (beats)
    beats->store(beats->load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

/// Threads that are started from now on have a stack of 8 MiB at least, whatever the limit for stacks is. The
/// first thread's is what that limit says.
void ensureThreadStacks();

/// Processors that this process may use.
int availableCores();

/// Threads that oneDNN, the yardstick of profiles and benchmarks, uses from now on in products of the calling
/// thread. Ranks and their pools use 1: they share a product out themselves.
void setThreads(int count);

} // namespace par::cpu
#endif
