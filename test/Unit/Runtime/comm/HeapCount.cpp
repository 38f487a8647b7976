#include "HeapCount.h"

#include <cstdlib>
#include <new>

static thread_local uint64_t taken = 0;

uint64_t par::test::heapCount() { return taken; }

#ifdef PAR_SANITIZE
bool par::test::countsHeap() { return false; }
#else
bool par::test::countsHeap() { return true; }

void *operator new(size_t bytes) {
  ++taken;
  if (void *memory = std::malloc(bytes ? bytes : 1))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
#endif
