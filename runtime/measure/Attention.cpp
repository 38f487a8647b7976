#include "cpu/Context.h"
#include "measure/Measure.h"
#include "par/runtime.h"

#include <array>
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
    what.head_dim = what.value_dim = figure.headDim;
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

  void forward() { par_attention_forward(&context, &what, buffers().data()); }
  void backward() { par_attention_backward(&context, &what, buffers().data()); }

private:
  /// Those of the backward pass, of which the forward pass has the first.
  std::array<void *, par_attention_backward_buffers> buffers() {
    std::array<void *, par_attention_backward_buffers> list{};
    list[par_attention_q] = q.data(), list[par_attention_k] = k.data(), list[par_attention_v] = v.data();
    list[par_attention_q_positions] = list[par_attention_k_positions] = positions.data();
    list[par_attention_out] = out.data(), list[par_attention_lse] = lse.data();
    list[par_attention_dout] = dout.data();
    list[par_attention_dq] = dq.data(), list[par_attention_dk] = dk.data(),
    list[par_attention_dv] = dv.data();
    return list;
  }

  cpu::CpuDevice device;
  device::Context context;
  par_attention what{};
  std::vector<float> q, k, v, out, dout, dq, dk, dv, lse;
  std::vector<int32_t> positions;
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
