// Does a product gain from an epilogue? The time of a product and of the elementwise kernel (bias and GELU)
// that follows it, on two threads:
//
//   apart    the product, then the kernel: what par compiles
//   library  each thread by chunks of rows: oneDNN's product of a chunk, then the kernel on it while it is in
//   the cache blocks   the same with par's own product (cpu/BlockedProduct.h), which is where a generated
//   epilogue would go
//
//   ninja -C build epilogue-benchmark && build/bin/epilogue-benchmark [rounds]
//
// Prints quartiles: microseconds for "apart", and for the others how many times as long they take (below 1:
// the epilogue pays).
#include "cpu/BlockedProduct.h"
#include "cpu/Context.h"
#include "cpu/Multiply.h"
#include "cpu/Pool.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <vector>

using namespace par::cpu;

namespace {

struct Case {
  const char *name;
  int64_t rows, columns, terms;
};

/// Memory as a rank's arena has it: in huge pages.
float *allocate(int64_t count) {
  constexpr size_t page = size_t(2) << 20;
  size_t bytes = (size_t(count) * sizeof(float) + page - 1) / page * page;
  void *memory = std::aligned_alloc(page, bytes);
  madvise(memory, bytes, MADV_HUGEPAGE);
  auto *values = static_cast<float *>(memory);
  for (int64_t i = 0; i < count; ++i)
    values[i] = float((i * 7) % 13 - 6) * 0.01f;
  return values;
}

float exponential(float x) {
  float scaled = std::min(std::max(x, -80.0f), 80.0f) * 1.44269504f, whole = std::nearbyint(scaled);
  float rest = (scaled - whole) * 0.693147181f;
  float power =
      1 + rest * (1 + rest * (0.5f + rest * (0.166666667f + rest * (0.0416666667f + rest * 0.00833333f))));
  int32_t bits = (int32_t(whole) + 127) << 23;
  float two;
  std::memcpy(&two, &bits, sizeof(two));
  return power * two;
}

/// x += bias, y = gelu(x): both are needed later.
void biasAndGelu(float *__restrict x, const float *__restrict bias, float *__restrict y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    float v = x[i] + bias[i];
    x[i] = v;
    y[i] = v - v / (exponential(1.59576912f * (v + 0.044715f * v * v * v)) + 1);
  }
}

class Measurement {
public:
  explicit Measurement(const Case &what)
      : what(what), x(allocate(what.rows * what.terms)), w(allocate(what.terms * what.columns)),
        out(allocate(what.rows * what.columns)), y(allocate(what.rows * what.columns)),
        bias(allocate(what.columns)) {}
  ~Measurement() {
    for (float *memory : {x, w, out, y, bias})
      std::free(memory);
  }

  void apart(Pool &pool) {
    share(pool, what.rows, [&](int64_t begin, int64_t end) { library(begin, end); });
    share(pool, what.rows, [&](int64_t begin, int64_t end) { kernel(begin, end); });
  }

  void joined(Pool &pool, int64_t chunk, bool blocks) {
    share(pool, chunk, [&](int64_t begin, int64_t end) {
      blocks ? own(begin, end) : library(begin, end);
      kernel(begin, end);
    });
  }

private:
  template <typename Body>
  void share(Pool &pool, int64_t chunk, Body body) {
    runParts(&pool, 2, [&](int64_t part, int64_t parts) {
      int64_t last = what.rows * (part + 1) / parts;
      for (int64_t row = what.rows * part / parts; row < last; row += chunk)
        body(row, std::min(row + chunk, last));
    });
  }

  void library(int64_t begin, int64_t end) {
    multiply(false, false, end - begin, what.columns, what.terms, 1, x + begin * what.terms, what.terms, w,
             what.columns, 0, out + begin * what.columns, what.columns);
  }
  void own(int64_t begin, int64_t end) {
    par_product product{0,
                        0,
                        end - begin,
                        what.columns,
                        what.terms,
                        x + begin * what.terms,
                        what.terms,
                        w,
                        what.columns,
                        0,
                        nullptr,
                        out + begin * what.columns,
                        what.columns};
    multiplyBlocked(nullptr, &product, 1);
  }
  void kernel(int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      biasAndGelu(out + row * what.columns, bias, y + row * what.columns, what.columns);
  }

  Case what;
  float *x, *w, *out, *y, *bias;
};

template <typename Body>
double microseconds(Body body) {
  auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
}

double quartile(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 4];
}

} // namespace

int main(int argc, char **argv) {
  int rounds = argc > 1 ? std::atoi(argv[1]) : 100;
  Pool pool(2);
  if (!hasLibrary()) {
    std::fprintf(stderr, "error: oneDNN is not on this machine; install libdnnl-dev\n");
    return 1;
  }
  const int64_t chunks[] = {64, 128, 256, 1 << 20};
  for (const Case &what : {Case{"C1 up", 1024, 2048, 512}, Case{"C2 gate", 1024, 1024, 384},
                           Case{"C3 gate", 4096, 704, 256}, Case{"C4 up", 256, 512, 128}}) {
    Measurement measurement(what);
    std::vector<double> apart, joined[2][4];
    for (int round = 0; round < rounds; ++round) {
      apart.push_back(microseconds([&] { measurement.apart(pool); }));
      for (int blocks = 0; blocks < 2; ++blocks)
        for (int i = 0; i < 4; ++i)
          joined[blocks][i].push_back(microseconds([&] { measurement.joined(pool, chunks[i], blocks); }));
    }
    std::printf("%-8s apart %6.0f us", what.name, quartile(apart));
    for (int blocks = 0; blocks < 2; ++blocks) {
      std::printf("   %s, rows 64, 128, 256, all:", blocks ? "blocks" : "library");
      for (const std::vector<double> &times : joined[blocks])
        std::printf(" %.2f", quartile(times) / quartile(apart));
    }
    std::printf("\n");
  }
}
