// Attention beside products, of the shapes of the step benchmark (test/Benchmarks/step): forward and backward
// of all layers in a row, as cold as in a step, in turns with one product of a layer. Printed: GFLOP/s of
// each, the causal half counted once, best and median, and the median share of the product's rate.
//   attention-benchmark [one|two [SHAPE]]      on one thread or two; of one shape alone
#include "cpu/BlockedProduct.h"
#include "cpu/Context.h"
#include "timing.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numeric>

using namespace par::cpu;
using namespace par::benchmarks;

namespace {

struct Shape {
  const char *name;
  int64_t layers, batch, rows, kvHeads, group, headDim;
  bool joint; ///< q, k and v are columns of one buffer, as of GPT-2
  float dropout = 0;
  int64_t hidden() const { return kvHeads * group * headDim; }
};

/// Buffers of one layer.
class Layer {
public:
  explicit Layer(const Shape &shape) {
    int64_t queries = shape.hidden(), keys = shape.kvHeads * shape.headDim, tokens = shape.batch * shape.rows;
    strides = shape.joint ? std::vector(3, queries + 2 * keys) : std::vector{queries, keys, keys};
    for (auto [list, holder] : {std::pair(operands, &inputs), std::pair(gradients, &outputs)}) {
      if (shape.joint) {
        holder->push_back(allocate(tokens * strides[0]));
        float *base = holder->back().get();
        list[0] = base, list[1] = base + queries, list[2] = base + queries + keys;
        continue;
      }
      for (int i = 0; i < 3; ++i) {
        holder->push_back(allocate(tokens * strides[size_t(i)]));
        list[i] = holder->back().get();
      }
    }
    out = allocate(tokens * queries), dout = allocate(tokens * queries);
    lse = allocate(tokens * shape.kvHeads * shape.group);
  }

  float *operands[3], *gradients[3];
  std::vector<int64_t> strides;
  Floats out, dout, lse;

private:
  std::vector<Floats> inputs, outputs;
};

class Measurement {
public:
  Measurement(const Shape &shape, CpuDevice &device) : positions(size_t(shape.rows)) {
    context.device = &device;
    std::iota(positions.begin(), positions.end(), 0);
    for (int64_t i = 0; i < shape.layers; ++i)
      layers.emplace_back(shape);
    what = {};
    what.batch = shape.batch, what.q_rows = what.k_rows = shape.rows;
    what.kv_heads = shape.kvHeads, what.group = shape.group, what.head_dim = shape.headDim;
    what.scale = 1 / std::sqrt(float(shape.headDim)), what.causal = 1, what.dropout = shape.dropout;
    what.strides[4] = 1, what.strides[3] = shape.rows, what.strides[2] = shape.rows * shape.group;
    what.strides[1] = what.strides[2] * shape.kvHeads;
    const std::vector<int64_t> &strides = layers[0].strides;
    what.q_stride = what.dq_stride = strides[0], what.k_stride = what.dk_stride = strides[1];
    what.v_stride = what.dv_stride = strides[2];
  }

  void forward() {
    for (Layer &layer : layers)
      par_attention_forward(&context, &what, buffersOf(layer).data());
  }
  void backward() {
    for (Layer &layer : layers)
      par_attention_backward(&context, &what, buffersOf(layer).data());
  }

private:
  /// Those of the backward pass, of which the forward pass has the first.
  std::array<void *, 15> buffersOf(Layer &layer) {
    return {layer.operands[0],
            layer.operands[1],
            layer.operands[2],
            positions.data(),
            positions.data(),
            key,
            &site,
            &row,
            offsets,
            layer.out.get(),
            layer.lse.get(),
            layer.dout.get(),
            layer.gradients[0],
            layer.gradients[1],
            layer.gradients[2]};
  }

  par::device::Context context;
  par_attention what;
  std::vector<int32_t> positions;
  std::vector<Layer> layers;
  int32_t key[2] = {1, 2}, site = 3, row = 0, offsets[5] = {};
};

/// The layer's product that makes queries, keys and values.
class Product {
public:
  explicit Product(const Shape &shape)
      : rows(shape.batch * shape.rows), columns((shape.group + 2) * shape.kvHeads * shape.headDim),
        terms(shape.hidden()), a(allocate(rows * terms)), b(allocate(columns * terms)),
        c(allocate(rows * columns)) {}
  void run(Pool *pool) const {
    par_product product{0,       1,     rows, columns, terms,   a.get(), terms,
                        b.get(), terms, 0,    nullptr, c.get(), columns};
    multiplyBlocked(pool, &product, 1);
  }
  double gflop() const { return 2e-9 * double(rows) * double(columns) * double(terms); }

private:
  int64_t rows, columns, terms;
  Floats a, b, c;
};

const Shape shapes[] = {
    // name    layers batch rows kv group dim
    {"C1", 8, 2, 512, 8, 1, 64, true},  {"C1 dropout", 4, 2, 512, 8, 1, 64, true, 0.1f},
    {"C2", 6, 4, 256, 2, 3, 64, false}, {"C3", 2, 1, 4096, 2, 2, 64, false},
    {"C4", 12, 2, 128, 4, 1, 32, true}, {"128 wide", 2, 1, 1024, 2, 4, 128, false},
    {"odd", 4, 2, 333, 4, 1, 80, true},
};

void measure(const Shape &shape, CpuDevice &device, int rounds) {
  Measurement attention(shape, device);
  Product product(shape);
  double gflop = 2e-9 * double(shape.layers * shape.batch * shape.rows * shape.rows * shape.hidden());
  std::vector<double> forward, backward, products, forwardShares, backwardShares;
  for (int i = 0; i < rounds; ++i) {
    forward.push_back(seconds([&] { attention.forward(); }) / gflop);
    products.push_back(seconds([&] { product.run(device.threads()); }) / product.gflop());
    backward.push_back(seconds([&] { attention.backward(); }) / gflop / 2.5);
    forwardShares.push_back(products.back() / forward.back());
    backwardShares.push_back(products.back() / backward.back());
  }
  std::printf("%-10s  product %3.0f %3.0f  forward %3.0f %3.0f  %2.0f %%  backward %3.0f %3.0f  %2.0f %%\n",
              shape.name, 1 / least(products), 1 / median(products), 1 / least(forward), 1 / median(forward),
              100 * median(forwardShares), 1 / least(backward), 1 / median(backward),
              100 * median(backwardShares));
  std::fflush(stdout);
}

} // namespace

int main(int argc, char **argv) {
  CpuDevice device({.threads = argc > 1 && !std::strcmp(argv[1], "one") ? 1 : 2});
  for (const Shape &shape : shapes)
    if (argc <= 2 || !std::strcmp(argv[2], shape.name))
      measure(shape, device, /*rounds=*/12);
  return 0;
}
