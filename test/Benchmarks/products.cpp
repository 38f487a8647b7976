// par's products beside the library's. A product of two threads, of the shapes of the step benchmark
// (test/Benchmarks/step): `dnnl_sgemm` on half of the longer side of C per thread, which is what a rank would
// do with the library, and cpu/BlockedProduct.h, in turns. Printed: GFLOP/s, best and median, and the median
// of the ratios of neighbours in time, which a shared machine's moods disturb least.
#include "cpu/BlockedProduct.h"
#include "cpu/Context.h"
#include "cpu/Multiply.h"
#include "shapes.h"
#include "timing.h"

#include <cstdio>
#include <cstring>

using namespace par::cpu;
using namespace par::benchmarks;

namespace {

class Measurement {
public:
  explicit Measurement(const Shape &shape)
      : a(allocate(shape.m * shape.k)), b(allocate(shape.k * shape.n)),
        c(allocate(shape.m * shape.n)), product{shape.transposeA,
                                                shape.transposeB,
                                                shape.m,
                                                shape.n,
                                                shape.k,
                                                a.get(),
                                                shape.transposeA ? shape.m : shape.k,
                                                b.get(),
                                                shape.transposeB ? shape.k : shape.n,
                                                0,
                                                nullptr,
                                                c.get(),
                                                shape.n} {}

  void own(Pool &pool) const { multiplyBlocked(&pool, &product, 1); }
  void library(Pool &pool) const {
    runParts(&pool, pool.size(), [&](int64_t part, int64_t parts) { multiplyHalf(part, parts); });
  }

private:
  void multiplyHalf(int64_t part, int64_t parts) const {
    const par_product &p = product;
    bool byRows = p.m >= p.n;
    int64_t side = byRows ? p.m : p.n, begin = side * part / parts, size = side * (part + 1) / parts - begin;
    int64_t inA = byRows ? begin * (p.transpose_a ? 1 : p.lda) : 0;
    int64_t inB = byRows ? 0 : begin * (p.transpose_b ? p.ldb : 1);
    multiply(p.transpose_a, p.transpose_b, byRows ? size : p.m, byRows ? p.n : size, p.k, 1, p.a + inA, p.lda,
             p.b + inB, p.ldb, 0, p.c + (byRows ? begin * p.ldc : begin), p.ldc);
  }

  Floats a, b, c;
  par_product product;
};

} // namespace

int main(int argc, char **argv) {
  double gflopPerShape = argc > 1 ? std::atof(argv[1]) : 100;
  Pool pool(2);
  if (!hasLibrary()) {
    std::fprintf(stderr, "error: oneDNN is not on this machine; install libdnnl-dev\n");
    return 1;
  }
  for (const Shape &shape : stepShapes) {
    Measurement measurement(shape);
    double gflop = 2e-9 * double(shape.m) * double(shape.n) * double(shape.k);
    auto rounds = size_t(std::clamp(gflopPerShape / gflop, 8.0, 400.0));
    std::vector<double> library, own, ratios;
    for (size_t i = 0; i < rounds; ++i) {
      library.push_back(seconds([&] { measurement.library(pool); }));
      own.push_back(seconds([&] { measurement.own(pool); }));
      ratios.push_back(library.back() / own.back());
    }
    auto best = [&](const std::vector<double> &times) { return gflop / least(times); };
    std::printf("%-13s %5lld x %5lld x %5lld  %s%s  library %3.0f %3.0f  own %3.0f %3.0f  ratio %.2f\n",
                shape.name, static_cast<long long>(shape.m), static_cast<long long>(shape.n),
                static_cast<long long>(shape.k), shape.transposeA ? "T" : "N", shape.transposeB ? "T" : "N",
                best(library), gflop / median(library), best(own), gflop / median(own), median(ratios));
    std::fflush(stdout);
  }
  return 0;
}
