/// The threads of one rank that share the work of its kernels.
#ifndef PAR_CPU_POOL_H
#define PAR_CPU_POOL_H

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace par::cpu {

/// Runs one task at a time in equal parts, one per thread, the calling thread being the first. Which thread
/// computes which part is fixed, so results do not depend on timing. Threads wait for the next task a tenth
/// of a millisecond awake, then asleep on a futex.
class Pool {
public:
  using Part = void (*)(void *data, int64_t part, int64_t parts);

  explicit Pool(int threads);
  ~Pool();
  Pool(const Pool &) = delete;
  Pool &operator=(const Pool &) = delete;

  int size() const { return int(workers.size()) + 1; }
  /// part(data, 0 … parts - 1, parts) with parts <= size(); returns when all are done. Not from inside a
  /// task.
  void run(int parts, Part part, void *data);

private:
  void work(int number);
  void stop();

  std::vector<std::thread> workers;
  std::atomic<uint32_t> started{0}; ///< number of the task that is to be done
  std::atomic<uint32_t> pending{0}; ///< workers that are not done with it
  std::atomic<bool> stopping{false};
  Part task = nullptr;
  void *data = nullptr;
  int parts = 0;
};

/// body(part, parts) on the pool's threads; with no pool or one part, here.
template <typename Body>
void runParts(Pool *pool, int64_t parts, Body &&body) {
  if (!pool || parts <= 1) {
    body(int64_t(0), int64_t(1));
    return;
  }
  auto call = [](void *data, int64_t part, int64_t count) { (*static_cast<Body *>(data))(part, count); };
  pool->run(int(parts < pool->size() ? parts : pool->size()), call, &body);
}

/// body(0 … count - 1) on the pool's threads, each taking the next item when it is done with one. For items
/// of different size, or threads of different speed, and only for those that share no results: who computes
/// what depends on timing.
template <typename Body>
void runItems(Pool *pool, int64_t count, Body &&body) {
  std::atomic<int64_t> next{0};
  runParts(pool, count, [&](int64_t, int64_t) {
    for (int64_t item; (item = next.fetch_add(1, std::memory_order_relaxed)) < count;)
      body(item);
  });
}

} // namespace par::cpu
#endif
