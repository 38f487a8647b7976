#ifndef PAR_CPU_THREADMEMORY_H
#define PAR_CPU_THREADMEMORY_H

#include "cpu/Pool.h"

#include <memory>

namespace par::cpu {

/// What the calling thread computes in: a T of its own, from the heap at its first use and never touched
/// before. Not static thread-local storage, as it is megabytes: glibc takes that from the stack of every
/// thread, and where stacks are small no thread can start.
template <typename T>
T &threadMemory() {
  thread_local std::unique_ptr<T> memory;
  if (!memory)
    memory.reset(new T);
  return *memory;
}

/// Takes what kernels need of it on the calling thread and the pool's threads, so that steps take nothing
/// from the heap. Throws std::bad_alloc.
void prepareThreadMemory(Pool *pool);

} // namespace par::cpu
#endif
