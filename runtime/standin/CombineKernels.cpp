#include "standin/CombineKernels.h"

#include <cstring>
#include <map>

#define INLINE [[maybe_unused]] static inline
#include "cuda/kernels/Combine.h"

namespace par::standin {

namespace {
template <typename T>
T load(const par_emulation &how, uint64_t address, const char *place) {
  T value{};
  if (const void *from = how.access(how.state, address, sizeof(T), sizeof(T), par_emulation_load, place))
    std::memcpy(&value, from, sizeof(T));
  return value;
}

template <typename T>
void store(const par_emulation &how, uint64_t address, T value) {
  if (void *to = how.access(how.state, address, sizeof(T), sizeof(T), par_emulation_store, "result"))
    std::memcpy(to, &value, sizeof(T));
}

template <typename Target, typename Source, typename Value>
void run(void **params, const uint32_t *grid, const uint32_t *block, const par_emulation &how, bool reads,
         Value value) {
  uint64_t to, from;
  long count;
  std::memcpy(&to, params[0], 8), std::memcpy(&from, params[1], 8), std::memcpy(&count, params[2], 8);
  long threads = long(grid[0]) * block[0];
  for (long thread = 0; thread < threads; ++thread)
    for (long i = thread; i < count; i += threads) {
      Target a = reads ? load<Target>(how, to + uint64_t(i) * sizeof(Target), "target") : Target();
      Source b = load<Source>(how, from + uint64_t(i) * sizeof(Source), "source");
      store<Target>(how, to + uint64_t(i) * sizeof(Target), value(a, b));
    }
}
} // namespace

#define KERNEL(name, target, source, reads, value)                                                           \
  static void name(void **params, const uint32_t grid[3], const uint32_t block[3], uint32_t,                 \
                   const par_emulation *how) {                                                               \
    run<target, source>(params, grid, block, *how, reads,                                                    \
                        []([[maybe_unused]] target a, source b) { return static_cast<target>(value); });     \
  }
#define COMBINE(name, target, source, value) KERNEL(name, target, source, true, value)
#define CONVERT(name, target, source, value) KERNEL(name, target, source, false, value)
COMBINE_ALL
#undef COMBINE
#undef CONVERT

par_emulated_kernel findCombineKernel(const std::string &name) {
#define COMBINE(name, target, source, value) {#name, name},
#define CONVERT(name, target, source, value) {#name, name},
  static const std::map<std::string, par_emulated_kernel> kernels = {COMBINE_ALL};
#undef COMBINE
#undef CONVERT
  auto found = kernels.find(name);
  return found == kernels.end() ? nullptr : found->second;
}

} // namespace par::standin
