/// What benchmark programs share: memory as a rank's arena has it, times, and medians.
#ifndef PAR_BENCHMARKS_TIMING_H
#define PAR_BENCHMARKS_TIMING_H

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <sys/mman.h>
#include <vector>

namespace par::benchmarks {

struct Free {
  void operator()(float *floats) const { std::free(floats); }
};
using Floats = std::unique_ptr<float, Free>;

/// Small numbers in huge pages, as in a rank's arena.
inline Floats allocate(int64_t count) {
  constexpr size_t page = 2 << 20;
  size_t bytes = (size_t(count) * sizeof(float) + page - 1) / page * page;
  auto *floats = static_cast<float *>(std::aligned_alloc(page, bytes));
  madvise(floats, bytes, MADV_HUGEPAGE);
  for (int64_t i = 0; i < count; ++i)
    floats[i] = float(i % 13 - 6) * 0.01f;
  return Floats(floats);
}

template <typename Body>
double seconds(Body body) {
  auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

inline double least(const std::vector<double> &values) {
  return *std::min_element(values.begin(), values.end());
}

} // namespace par::benchmarks
#endif
