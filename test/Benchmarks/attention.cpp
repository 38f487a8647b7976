// Attention beside products, of the shapes of the step benchmark (test/Benchmarks/step): forward and backward
// of all layers in a row, as cold as in a step, in turns with one product of a layer. Printed: GFLOP/s of
// each, the causal half counted once, best and median, and the median share of the product's rate.
//   attention-benchmark [one|two [SHAPE]]      on one thread or two; of one shape alone
// Then each thing that attention takes besides, in turns with the same attention without: pairs of a query
// and a key that are seen, those that are computed, and the median time, as shares of those without.
//   attention-benchmark one|two rows [bf16]    these alone, in f32 or in bf16
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
  int64_t window = 0, document = 0; ///< rows of a document; 0: one for all
  float cap = 0;
  bool sinks = false;
  int64_t valueDim = 0; ///< 0: headDim
  bool bf16 = false;
  int64_t hidden() const { return kvHeads * group * headDim; }
  int64_t values() const { return valueDim ? valueDim : headDim; }
};

/// Buffers of one layer.
class Layer {
public:
  explicit Layer(const Shape &shape) {
    int64_t queries = shape.hidden(), keys = shape.kvHeads * shape.headDim, tokens = shape.batch * shape.rows;
    int64_t values = shape.kvHeads * shape.values(), heads = shape.kvHeads * shape.group;
    strides = shape.joint ? std::vector(3, queries + keys + values) : std::vector{queries, keys, values};
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
    out = allocate(tokens * heads * shape.values()), dout = allocate(tokens * heads * shape.values());
    lse = allocate(tokens * heads), sinks = allocate(heads);
  }

  float *operands[3], *gradients[3];
  std::vector<int64_t> strides;
  Floats out, dout, lse, sinks;

private:
  std::vector<Floats> inputs, outputs;
};

class Measurement {
public:
  Measurement(const Shape &shape, CpuDevice &device) : positions(size_t(shape.rows)) {
    context.device = &device;
    std::iota(positions.begin(), positions.end(), 0);
    for (int64_t row = 0; shape.document && row < shape.rows; ++row) {
      documents.push_back(int32_t(row / shape.document));
      positions[size_t(row)] = int32_t(row % shape.document);
    }
    for (int64_t i = 0; i < shape.layers; ++i)
      layers.emplace_back(shape);
    describe(shape);
    if (shape.bf16)
      workspace = allocate(par_attention_bf16_workspace(&what, 1) / int64_t(sizeof(float)));
  }

  void forward() {
    for (Layer &layer : layers)
      if (void **buffers = buffersOf(layer); workspace)
        par_attention_forward_bf16(&context, &what, buffers, workspace.get(),
                                   par_attention_bf16_workspace(&what, 0));
      else
        par_attention_forward(&context, &what, buffers);
  }
  void backward() {
    for (Layer &layer : layers)
      if (void **buffers = buffersOf(layer); workspace)
        par_attention_backward_bf16(&context, &what, buffers, workspace.get(),
                                    par_attention_bf16_workspace(&what, 1));
      else
        par_attention_backward(&context, &what, buffers);
  }
  const std::vector<int32_t> &rowPositions() const { return positions; }

private:
  void describe(const Shape &shape) {
    what = {};
    what.batch = shape.batch, what.q_rows = what.k_rows = shape.rows;
    what.kv_heads = shape.kvHeads, what.group = shape.group;
    what.head_dim = shape.headDim, what.value_dim = shape.values();
    what.scale = 1 / std::sqrt(float(shape.headDim)), what.causal = 1, what.dropout = shape.dropout;
    what.window = shape.window, what.cap = shape.cap, what.has_sinks = shape.sinks;
    what.strides[4] = 1, what.strides[3] = shape.rows, what.strides[2] = shape.rows * shape.group;
    what.strides[1] = what.strides[2] * shape.kvHeads;
    const std::vector<int64_t> &strides = layers[0].strides;
    what.q_stride = what.dq_stride = strides[0], what.k_stride = what.dk_stride = strides[1];
    what.v_stride = what.dv_stride = strides[2];
  }

  /// Those of the backward pass, of which the forward pass has the first.
  void **buffersOf(Layer &layer) {
    int32_t *table = documents.empty() ? nullptr : documents.data();
    for (auto [number, buffer] :
         std::initializer_list<std::pair<int, void *>>{{par_attention_q, layer.operands[0]},
                                                       {par_attention_k, layer.operands[1]},
                                                       {par_attention_v, layer.operands[2]},
                                                       {par_attention_q_positions, positions.data()},
                                                       {par_attention_k_positions, positions.data()},
                                                       {par_attention_q_documents, table},
                                                       {par_attention_k_documents, table},
                                                       {par_attention_sinks, layer.sinks.get()},
                                                       {par_attention_key, key},
                                                       {par_attention_site, &site},
                                                       {par_attention_row, &row},
                                                       {par_attention_offsets, offsets},
                                                       {par_attention_out, layer.out.get()},
                                                       {par_attention_lse, layer.lse.get()},
                                                       {par_attention_dout, layer.dout.get()},
                                                       {par_attention_dq, layer.gradients[0]},
                                                       {par_attention_dk, layer.gradients[1]},
                                                       {par_attention_dv, layer.gradients[2]}})
      list[size_t(number)] = buffer;
    if (!what.has_sinks)
      list[par_attention_sinks] = nullptr;
    return list.data();
  }

  par::device::Context context;
  par_attention what;
  std::vector<int32_t> positions, documents;
  std::vector<Layer> layers;
  Floats workspace;
  std::array<void *, par_attention_backward_buffers> list{};
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

/// A shape, and the same with one thing more.
struct Comparison {
  Shape without, with;
  int rounds;
};

std::vector<Comparison> comparisons(bool bf16) {
  Shape sequence{"", 1, 1, 16384, 2, 1, 64, false}, heads{"", 2, 2, 1024, 8, 1, 64, false};
  sequence.bf16 = heads.bf16 = bf16;
  auto changed = [](Shape shape, const char *name, auto &&change) {
    shape.name = name;
    change(shape);
    return shape;
  };
  Shape latent = changed(heads, "", [](Shape &s) { s.headDim = 192, s.valueDim = 192; });
  return {{sequence, changed(sequence, "window 1,024 of 16,384", [](Shape &s) { s.window = 1024; }), 3},
          {sequence, changed(sequence, "window 1,000 of 16,384", [](Shape &s) { s.window = 1000; }), 3},
          {sequence, changed(sequence, "32 documents of 512", [](Shape &s) { s.document = 512; }), 3},
          {sequence, changed(sequence, "documents of 500", [](Shape &s) { s.document = 500; }), 3},
          {heads, changed(heads, "sinks", [](Shape &s) { s.sinks = true; }), 15},
          {heads, changed(heads, "cap", [](Shape &s) { s.cap = 50; }), 15},
          {latent, changed(latent, "values of 128 for 192", [](Shape &s) { s.valueDim = 128; }), 9}};
}

/// Pairs of a query and a key that see each other, of one head.
double countSeen(const Shape &shape) {
  double pairs = 0;
  for (int64_t row = 0; row < shape.rows; ++row) {
    int64_t before = shape.document ? row % shape.document : row;
    pairs += double(1 + (shape.window ? std::min(before, shape.window - 1) : before));
  }
  return pairs;
}

void compare(const Comparison &comparison, CpuDevice &device) {
  Measurement without(comparison.without, device), with(comparison.with, device);
  std::vector<double> forward, backward, both;
  double pairs = 0;
  auto time = [&](Measurement &measurement, double &first, double &second) {
    int64_t before = device.attentionPairs().forward;
    first = seconds([&] { measurement.forward(); }), second = seconds([&] { measurement.backward(); });
    return double(device.attentionPairs().forward - before);
  };
  for (int i = 0; i < comparison.rounds; ++i) {
    double plain[2], other[2];
    double all = time(without, plain[0], plain[1]);
    pairs = time(with, other[0], other[1]) / all;
    forward.push_back(other[0] / plain[0]), backward.push_back(other[1] / plain[1]);
    both.push_back((other[0] + other[1]) / (plain[0] + plain[1]));
  }
  double seen = countSeen(comparison.with) / countSeen(comparison.without);
  std::printf(
      "%-24s seen %6.4f  computed %6.4f, %4.2f times  forward %6.4f  backward %6.4f  both %6.4f, %4.2f "
      "times\n",
      comparison.with.name, seen, pairs, pairs / seen, median(forward), median(backward), median(both),
      median(both) / seen);
  std::fflush(stdout);
}

} // namespace

int main(int argc, char **argv) {
  CpuDevice device({.threads = argc > 1 && !std::strcmp(argv[1], "one") ? 1 : 2});
  bool rows = argc > 2 && !std::strcmp(argv[2], "rows");
  for (const Shape &shape : shapes)
    if (!rows && (argc <= 2 || !std::strcmp(argv[2], shape.name)))
      measure(shape, device, /*rounds=*/12);
  if (rows || argc <= 2)
    for (const Comparison &comparison : comparisons(argc > 3 && !std::strcmp(argv[3], "bf16")))
      compare(comparison, device);
  return 0;
}
