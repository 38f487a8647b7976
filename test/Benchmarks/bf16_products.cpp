// par's products of bf16 numbers beside oneDNN's, with sums in f32: of two threads, of the step benchmark's
// shapes and of small ones, in turns. par's are on each of the processor's units. Printed: GFLOP/s, medians;
// and how many times as fast the units that a run would choose are as oneDNN and as all others, medians of
// the ratios of neighbours in time.
//
//   OMP_NUM_THREADS=2 bf16-products-benchmark [GFLOP per shape]
#include "cpu/BlockedProduct.h"
#include "cpu/Units.h"
#include "shapes.h"
#include "timing.h"

#include <cstdio>
#include <cstring>
#include <dnnl.hpp>
#include <string>

using namespace par::cpu;
using namespace par::benchmarks;

namespace {

class Measurement {
public:
  explicit Measurement(const Shape &shape)
      : shape(shape), a(round(shape.m * shape.k)), b(round(shape.k * shape.n)),
        c(allocate(shape.m * shape.n)), engine(dnnl::engine::kind::cpu, 0), stream(engine),
        multiplication(dnnl::matmul::primitive_desc(
            dnnl::matmul::desc(
                describe(shape.m, shape.k, shape.transposeA), describe(shape.k, shape.n, shape.transposeB),
                {{shape.m, shape.n}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::ab}),
            engine)) {
    product.transpose_a = shape.transposeA, product.transpose_b = shape.transposeB;
    product.m = shape.m, product.n = shape.n, product.k = shape.k;
    product.a = a.data(), product.lda = shape.transposeA ? shape.m : shape.k;
    product.b = b.data(), product.ldb = shape.transposeB ? shape.k : shape.n;
    product.c = c.get(), product.ldc = shape.n;
  }

  void own(Pool &pool) { multiplyBlocked(&pool, &product, 1); }
  void library() {
    auto wrap = [&](const dnnl::memory::desc &what, void *data) { return dnnl::memory(what, engine, data); };
    multiplication.execute(
        stream,
        {{DNNL_ARG_SRC, wrap(describe(shape.m, shape.k, shape.transposeA), a.data())},
         {DNNL_ARG_WEIGHTS, wrap(describe(shape.k, shape.n, shape.transposeB), b.data())},
         {DNNL_ARG_DST,
          wrap({{shape.m, shape.n}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::ab}, c.get())}});
    stream.wait();
  }

private:
  static dnnl::memory::desc describe(int64_t rows, int64_t columns, bool isTransposed) {
    using tag = dnnl::memory::format_tag;
    return {{rows, columns}, dnnl::memory::data_type::bf16, isTransposed ? tag::ba : tag::ab};
  }

  /// Small numbers, of which bf16 has the upper halves.
  static std::vector<uint16_t> round(int64_t count) {
    std::vector<uint16_t> numbers(static_cast<size_t>(count));
    for (size_t i = 0; i < numbers.size(); ++i) {
      float value = float(int64_t(i) % 13 - 6) * 0.01f;
      uint32_t bits;
      std::memcpy(&bits, &value, sizeof(bits));
      numbers[i] = uint16_t(bits >> 16);
    }
    return numbers;
  }

  const Shape &shape;
  std::vector<uint16_t> a, b;
  Floats c;
  Bf16Product product{};
  dnnl::engine engine;
  dnnl::stream stream;
  dnnl::matmul multiplication;
};

} // namespace

static std::vector<Bf16Units> allUnits() {
  std::vector<Bf16Units> units;
  for (Bf16Units each : {Bf16Units::none, Bf16Units::dot, Bf16Units::tiles})
    if (int(each) <= int(supportedBf16Units()))
      units.push_back(each);
  return units;
}

static void compare(const Shape &shape, double gflopPerShape, Pool &pool) {
  Measurement measurement(shape);
  double gflop = 2e-9 * double(shape.m) * double(shape.n) * double(shape.k);
  auto rounds = size_t(std::clamp(gflopPerShape / gflop, 8.0, 200.0));
  std::vector<Bf16Units> units = allUnits();
  std::vector<double> library, ofLibrary;
  std::vector<std::vector<double>> own(units.size()), ratios(units.size());
  auto chosen = size_t(fastestBf16Units());
  measurement.library();
  for (size_t i = 0; i < rounds; ++i) {
    library.push_back(seconds([&] { measurement.library(); }));
    for (size_t unit = 0; unit < units.size(); ++unit) {
      useBf16Units(units[unit]);
      own[unit].push_back(seconds([&] { measurement.own(pool); }));
    }
    ofLibrary.push_back(library.back() / own[chosen].back());
    for (size_t unit = 0; unit < units.size(); ++unit)
      ratios[unit].push_back(own[unit].back() / own[chosen].back());
  }
  std::printf("%-13s %5lld x %5lld x %5lld  %s%s  library %5.1f x%.2f", shape.name,
              static_cast<long long>(shape.m), static_cast<long long>(shape.n),
              static_cast<long long>(shape.k), shape.transposeA ? "T" : "N", shape.transposeB ? "T" : "N",
              gflop / median(library), median(ofLibrary));
  for (size_t unit = 0; unit < units.size(); ++unit)
    std::printf("  %s %5.1f x%.2f", nameOf(units[unit]), gflop / median(own[unit]), median(ratios[unit]));
  std::printf("\n");
  std::fflush(stdout);
}

int main(int argc, char **argv) {
  double gflopPerShape = argc > 1 ? std::atof(argv[1]) : 50;
  std::printf("chosen: %s\n", nameOf(fastestBf16Units()));
  Pool pool(2);
  for (const Shape &shape : stepShapes)
    compare(shape, gflopPerShape, pool);
  constexpr Shape small[] = {{"a row", false, true, 1, 2048, 512},    {"few rows", false, true, 5, 512, 512},
                             {"few terms", false, true, 256, 256, 8}, {"odd", false, false, 77, 55, 33},
                             {"tiny", false, true, 16, 16, 16},       {"narrow", false, true, 1024, 8, 512},
                             {"small dW", true, false, 64, 64, 1024}};
  for (const Shape &shape : small)
    compare(shape, gflopPerShape / 10, pool);
  return 0;
}
