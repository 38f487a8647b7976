#include "cpu/Context.h"
#include "cpu/Simd.h"
#include "measure/Measure.h"

#include <algorithm>

namespace par::measure {

using cpu::Pool;

/// out = in + 1: what a kernel without much to compute does.
PAR_CLONES static void addOne(const float *in, float *out, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    out[i] = in[i] + 1;
}

/// A polynomial of degree 16, as functions of elementwise kernels are computed: 32 operations per element.
PAR_CLONES static void evaluate(const float *in, float *out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    float x = in[i], sum = 1;
    for (int term = 0; term < 16; ++term)
      sum = sum * x + 0.5f;
    out[i] = sum;
  }
}

using Body = void (*)(const float *in, float *out, int64_t count);

/// The kernel on parts of `count` elements, one per thread.
static void runKernel(Pool &pool, Body body, const float *in, float *out, int64_t count) {
  cpu::runParts(&pool, std::min<int64_t>(pool.size(), std::max<int64_t>(1, count / 4096)),
                [&](int64_t part, int64_t parts) {
                  int64_t begin = count * part / parts, end = count * (part + 1) / parts;
                  body(in + begin, out + begin, end - begin);
                });
}

/// One kernel after the other reads and writes the next piece of an arena: in a step, too, a tensor has left
/// the nearest caches before it is used again.
static double measurePieces(Pool &pool, int64_t bytes) {
  constexpr int64_t arenaBytes = 1 << 26;
  int64_t count = bytes / 8, pieces = std::max<int64_t>(1, arenaBytes / bytes), piece = 0;
  std::vector<float> in(size_t(count * pieces), 1), out(in.size());
  return measureSeconds([&] {
    runKernel(pool, addOne, in.data() + piece * count, out.data() + piece * count, count);
    piece = (piece + 1) % pieces;
  });
}

void measureKernels(Measurement &into) {
  Pool pool(cpu::availableCores());
  into.startSeconds = measureSeconds([&] { cpu::runParts(&pool, pool.size(), [](int64_t, int64_t) {}); });
  for (int64_t bytes = 1 << 16; bytes <= 1 << 28; bytes *= 4)
    into.kernels.push_back({bytes, measurePieces(pool, bytes)});
  std::vector<float> in(size_t(pool.size()) * 8192, 0.5f), out(in.size());
  double seconds =
      measureSeconds([&] { runKernel(pool, evaluate, in.data(), out.data(), int64_t(in.size())); });
  into.kernelFlops = 32 * double(in.size()) / seconds;
}

} // namespace par::measure
