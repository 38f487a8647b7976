// par's products of bf16 numbers beside oneDNN's, with sums in f32: of two threads, of the step benchmark's
// shapes, in turns. par's are on the units that a run would choose; another argument names others (none, dot,
// tiles). Printed: GFLOP/s, medians, and the median of the ratios of neighbours in time.
//
//   OMP_NUM_THREADS=2 bf16-products-benchmark [GFLOP per shape] [units]
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

int main(int argc, char **argv) {
  double gflopPerShape = argc > 1 ? std::atof(argv[1]) : 50;
  Bf16Units units = fastestBf16Units();
  for (Bf16Units each : {Bf16Units::none, Bf16Units::dot, Bf16Units::tiles})
    if (argc > 2 && std::string(argv[2]) == nameOf(each))
      units = each;
  if (int(units) > int(supportedBf16Units())) {
    std::fprintf(stderr, "error: this processor has no units of that name\n");
    return 1;
  }
  useBf16Units(units);
  std::printf("units: %s\n", nameOf(units));
  Pool pool(2);
  for (const Shape &shape : stepShapes) {
    Measurement measurement(shape);
    double gflop = 2e-9 * double(shape.m) * double(shape.n) * double(shape.k);
    auto rounds = size_t(std::clamp(gflopPerShape / gflop, 8.0, 200.0));
    std::vector<double> library, own, ratios;
    measurement.library();
    for (size_t i = 0; i < rounds; ++i) {
      library.push_back(seconds([&] { measurement.library(); }));
      own.push_back(seconds([&] { measurement.own(pool); }));
      ratios.push_back(library.back() / own.back());
    }
    std::printf("%-13s %5lld x %5lld x %5lld  %s%s  library %4.0f  own %4.0f  ratio %.2f\n", shape.name,
                static_cast<long long>(shape.m), static_cast<long long>(shape.n),
                static_cast<long long>(shape.k), shape.transposeA ? "T" : "N", shape.transposeB ? "T" : "N",
                gflop / median(library), gflop / median(own), median(ratios));
    std::fflush(stdout);
  }
  return 0;
}
