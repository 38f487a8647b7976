#include "cpu/Context.h"
#include "measure/Measure.h"
#include "par/runtime.h"

#include <cmath>
#include <numeric>

namespace par::measure {

namespace {
class AttentionRun {
public:
  explicit AttentionRun(const AttentionFigure &figure)
      : device({cpu::availableCores()}), positions(size_t(figure.rows)) {
    context.device = &device;
    what.batch = 1;
    what.q_rows = what.k_rows = figure.rows;
    what.kv_heads = figure.heads;
    what.group = 1;
    what.head_dim = figure.headDim;
    what.scale = 1 / std::sqrt(float(figure.headDim));
    what.causal = 1;
    int64_t stride = figure.heads * figure.headDim;
    what.q_stride = what.k_stride = what.v_stride = stride;
    what.dq_stride = what.dk_stride = what.dv_stride = stride;
    for (std::vector<float> *tensor : {&q, &k, &v, &out, &dout, &dq, &dk, &dv})
      tensor->assign(size_t(figure.rows * stride), 0.01f);
    lse.assign(size_t(figure.rows * figure.heads), 0);
    std::iota(positions.begin(), positions.end(), 0);
  }

  void forward() {
    void *buffers[] = {q.data(), k.data(), v.data(), positions.data(), positions.data(), key,
                       &site,    &row,     offsets,  out.data(),       lse.data()};
    par_attention_forward(&context, &what, buffers);
  }
  void backward() {
    void *buffers[] = {q.data(),   k.data(),    v.data(),  positions.data(), positions.data(),
                       key,        &site,       &row,      offsets,          out.data(),
                       lse.data(), dout.data(), dq.data(), dk.data(),        dv.data()};
    par_attention_backward(&context, &what, buffers);
  }

private:
  cpu::CpuDevice device;
  device::Context context;
  par_attention what{};
  std::vector<float> q, k, v, out, dout, dq, dk, dv, lse;
  std::vector<int32_t> positions;
  int32_t key[2] = {}, site = 0, row = 0, offsets[5] = {};
};
} // namespace

void measureAttention(Measurement &into) {
  for (int64_t headDim : {16, 32, 64, 128})
    for (int64_t rows : {64, 256, 1024}) {
      AttentionFigure figure;
      figure.headDim = headDim;
      figure.rows = rows;
      figure.heads = 4 * int64_t(cpu::availableCores());
      AttentionRun run(figure);
      figure.seconds = measureSeconds([&] { run.forward(); });
      into.attention.push_back(figure);
      figure.backward = true;
      figure.seconds = measureSeconds([&] { run.backward(); });
      into.attention.push_back(figure);
    }
}

} // namespace par::measure
