#include "cpu/ThreadMemory.h"

#include "cpu/AttentionCover.h"
#include "cpu/BlockedProduct.h"

#include <new>

namespace par::cpu {

void prepareThreadMemory(Pool *pool) {
  std::atomic<bool> failed{false};
  runParts(pool, pool ? pool->size() : 1, [&](int64_t, int64_t) {
    try {
      prepareProducts();
      threadMemory<TileMemory>(), threadMemory<KeyTileMemory>();
    } catch (const std::bad_alloc &) {
      failed = true; // no exception may leave a thread
    }
  });
  if (failed)
    throw std::bad_alloc();
}

} // namespace par::cpu
