#include "cpu/Pool.h"

#include "cpu/Context.h"
#include "device/Futex.h"
#include "par/io/Threads.h"

#include <chrono>
#include <string>

namespace par::cpu {

/// Kernels follow each other within microseconds, and a wake-up takes several, on a virtual machine many: so
/// a moment awake first. By the clock: a pause takes 5 to 50 ns, depending on the processor.
static void waitWhile(std::atomic<uint32_t> &word, uint32_t value) {
  constexpr std::chrono::microseconds awake(100);
  constexpr int pauses = 64; // between two looks at the clock
  auto begin = std::chrono::steady_clock::now();
  do {
    for (int i = 0; i < pauses; ++i) {
      if (word.load(std::memory_order_acquire) != value)
        return;
      __builtin_ia32_pause();
    }
  } while (std::chrono::steady_clock::now() - begin < awake);
  while (word.load(std::memory_order_acquire) == value)
    device::futexWait(word, value);
}

Pool::Pool(int threads) {
  workers.reserve(size_t(threads));
  try {
    for (int number = 1; number < threads; ++number)
      workers.push_back(io::startThread("thread " + std::to_string(number + 1) + " of " +
                                            std::to_string(threads) + " for a rank's kernels",
                                        [this, number] { work(number); }));
  } catch (...) {
    stop(); // those that were started
    throw;
  }
}

Pool::~Pool() { stop(); }

void Pool::stop() {
  stopping = true;
  started.fetch_add(1, std::memory_order_release);
  device::futexWakeAll(started);
  for (std::thread &worker : workers)
    worker.join();
}

void Pool::run(int count, Part part, void *what) {
  task = part, data = what, parts = count;
  pending.store(uint32_t(workers.size()), std::memory_order_relaxed);
  started.fetch_add(1, std::memory_order_release);
  device::futexWakeAll(started);
  part(what, 0, count);
  for (uint32_t left; (left = pending.load(std::memory_order_acquire)) != 0;)
    waitWhile(pending, left);
}

void Pool::work(int number) {
  uint32_t seen = 0;
  while (true) {
    waitWhile(started, seen);
    ++seen;
    if (stopping)
      return;
    if (number < parts)
      task(data, number, parts);
    if (pending.fetch_sub(1, std::memory_order_acq_rel) == 1)
      device::futexWakeAll(pending);
  }
}

} // namespace par::cpu

extern "C" void par_parallel(void *context, void *kernel, void *buffers, int64_t elements) {
  using namespace par::cpu;
  beat(context);
  // Below this a wake-up takes longer than the work.
  constexpr int64_t enough = 16384;
  auto function = reinterpret_cast<void (*)(void *, void *, int64_t, int64_t)>(kernel);
  runParts(poolOf(context), elements / enough,
           [&](int64_t part, int64_t parts) { function(context, buffers, part, parts); });
}
