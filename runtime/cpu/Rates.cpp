#include "cpu/BlockedProduct.h"
#include "cpu/CpuDevice.h"
#include "cpu/Multiply.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

namespace par::cpu {

using Clock = std::chrono::steady_clock;

static double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// The shortest of several times.
template <typename Body>
static double fastest(const Body &body) {
  double best = 1e30;
  for (int i = 0; i < 5; ++i) {
    Clock::time_point begin = Clock::now();
    body();
    best = std::min(best, since(begin));
  }
  return best;
}

/// The matrix product is par's own, or oneDNN's where that is there and faster.
device::Rates CpuDevice::measureRates() {
  int64_t parts = pool ? pool->size() : 1;
  constexpr int64_t bytes = 32 << 20, size = 768;
  std::vector<char> from(bytes, 1), to(bytes, 2); // larger than the caches of a core
  double copy = fastest([&] {
    runParts(pool.get(), parts, [&](int64_t part, int64_t count) {
      int64_t begin = bytes * part / count, end = bytes * (part + 1) / count;
      std::memcpy(to.data() + begin, from.data() + begin, size_t(end - begin));
    });
  });
  std::vector<float> a(size * size, 1), b(size * size, 1), c(size * size);
  par_product own{0, 0, size, size, size, a.data(), size, b.data(), size, 0, nullptr, c.data(), size};
  double product = fastest([&] { multiplyBlocked(pool.get(), &own, 1); });
  double library = !hasLibrary() ? product : fastest([&] {
    runParts(pool.get(), parts, [&](int64_t part, int64_t count) {
      int64_t begin = size * part / count, rows = size * (part + 1) / count - begin;
      multiply(false, false, rows, size, size, 1, a.data() + begin * size, size, b.data(), size, 0,
               c.data() + begin * size, size);
    });
  });
  return {2.0 * double(bytes) / copy, 2.0 * double(size * size * size) / std::min(library, product)};
}

} // namespace par::cpu
