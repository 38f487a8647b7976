/// Counts what a thread takes from the heap by `new`.
#ifndef HEAPCOUNT_H
#define HEAPCOUNT_H

#include <cstdint>

namespace par::test {

/// Calls of `operator new` by this thread so far. What other threads take is counted over whole runs
/// (test/Run/Memory/allocations.test).
uint64_t heapCount();
/// Sanitizers bring a `new` of their own, which is not counted.
bool countsHeap();

} // namespace par::test
#endif
