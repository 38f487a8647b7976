// Attention on bf16. Without units for it a few rows of the batch at a time are widened into the workspace
// and go through the f32 attention; what it gives is rounded once.
#include "cpu/AttentionUnits.h"
#include "cpu/Bf16.h"
#include "cpu/Context.h"
#include "cpu/Units.h"
#include "par/runtime.h"

#include <algorithm>

namespace par::cpu {
namespace {

/// A buffer of a call: its number in the list, whether it has a row per query or per key, elements of a row,
/// and between its rows.
struct Tensor {
  int number;
  bool ofQueries;
  int64_t width, stride;
};

class Converter {
public:
  Converter(void *context, const par_attention &what, void *const *buffers, float *workspace, int64_t bytes,
            bool backward)
      : context(context), what(what), buffers(buffers), workspace(workspace),
        batch(std::clamp<int64_t>(bytes / par_attention_bf16_workspace(&what, backward), 1, what.batch)) {}

  int64_t heads() const { return what.kv_heads * what.group; }
  Tensor ofQ(int number, int64_t stride) const { return {number, true, heads() * what.head_dim, stride}; }
  Tensor ofOut(int number) const {
    return {number, true, heads() * what.value_dim, heads() * what.value_dim};
  }
  Tensor ofK(int number, int64_t stride) const {
    return {number, false, what.kv_heads * what.head_dim, stride};
  }
  Tensor ofV(int number, int64_t stride) const {
    return {number, false, what.kv_heads * what.value_dim, stride};
  }

  /// Calls `compute(part, list)` for every few rows of the batch. `list` has all `count` buffers; `inputs`
  /// and `outputs` among them lie in f32 in the workspace, their rows one after the other.
  template <typename Compute>
  void run(std::initializer_list<Tensor> inputs, std::initializer_list<Tensor> outputs, int count,
           Compute &&compute) {
    for (int64_t row = 0; row < what.batch; row += batch) {
      par_attention part = what;
      part.batch = std::min(batch, what.batch - row);
      part.q_stride = part.dq_stride = heads() * what.head_dim;
      part.k_stride = part.dk_stride = what.kv_heads * what.head_dim;
      part.v_stride = part.dv_stride = what.kv_heads * what.value_dim;
      void *list[par_attention_backward_buffers];
      std::copy(buffers, buffers + count, list);
      int32_t offsets[5];
      beginAt(row, list, offsets);
      float *next = workspace;
      for (const Tensor &tensor : inputs)
        next = widen(tensor, row, part.batch, list, next);
      for (const Tensor &tensor : outputs)
        if (list[tensor.number]) {
          list[tensor.number] = next;
          next += part.batch * rows(tensor) * tensor.width;
        }
      compute(part, list);
      for (const Tensor &tensor : outputs)
        if (list[tensor.number])
          round(tensor, row, part.batch, static_cast<float *>(list[tensor.number]));
    }
  }

private:
  int64_t rows(const Tensor &tensor) const { return tensor.ofQueries ? what.q_rows : what.k_rows; }

  /// Lets the buffers that are not widened begin at a row of the batch. `offsets`: room for those of dropout.
  void beginAt(int64_t row, void **list, int32_t *offsets) const {
    list[par_attention_lse] = static_cast<float *>(list[par_attention_lse]) + row * heads() * what.q_rows;
    auto move = [&](int table, int64_t ofEntry) {
      if (what.rows_per_entry && list[table])
        list[table] = static_cast<int32_t *>(list[table]) + row * ofEntry;
    };
    move(par_attention_q_positions, what.q_rows), move(par_attention_q_documents, what.q_rows);
    move(par_attention_k_positions, what.k_rows), move(par_attention_k_documents, what.k_rows);
    if (!list[par_attention_offsets])
      return;
    // Dropout numbers the rows of the whole batch.
    std::copy_n(static_cast<int32_t *>(list[par_attention_offsets]), 5, offsets);
    offsets[0] += int32_t(row);
    list[par_attention_offsets] = offsets;
  }

  uint16_t *memory(const Tensor &tensor, int64_t row) const {
    return static_cast<uint16_t *>(buffers[tensor.number]) + row * rows(tensor) * tensor.stride;
  }

  float *widen(const Tensor &tensor, int64_t row, int64_t count, void **list, float *to) {
    const uint16_t *from = memory(tensor, row);
    int64_t wide = tensor.width;
    convert(count * rows(tensor), wide,
            [&](int64_t i) { widenRow(from + i * tensor.stride, to + i * wide, wide); });
    list[tensor.number] = to;
    return to + count * rows(tensor) * wide;
  }

  void round(const Tensor &tensor, int64_t row, int64_t count, const float *from) {
    uint16_t *to = memory(tensor, row);
    int64_t wide = tensor.width;
    convert(count * rows(tensor), wide,
            [&](int64_t i) { roundRow(from + i * wide, to + i * tensor.stride, wide); });
  }

  template <typename Row>
  void convert(int64_t count, int64_t wide, Row &&row) {
    constexpr int64_t enough = 16384; // elements; below this a wake-up takes longer
    runParts(poolOf(context), count * wide / enough, [&](int64_t part, int64_t parts) {
      for (int64_t i = count * part / parts; i < count * (part + 1) / parts; ++i)
        row(i);
    });
  }

  void *context;
  const par_attention &what;
  void *const *buffers;
  float *workspace;
  int64_t batch; ///< rows of the batch at once
};

} // namespace
} // namespace par::cpu

extern "C" void par_attention_forward_bf16(void *context, void *description, void *bufferList,
                                           void *workspace, int64_t bytes) {
  using namespace par::cpu;
  const par_attention &what = *static_cast<par_attention *>(description);
  if (usedBf16Units() != Bf16Units::none)
    return attendByUnits(context, what, static_cast<void *const *>(bufferList));
  Converter converter(context, what, static_cast<void *const *>(bufferList), static_cast<float *>(workspace),
                      bytes, /*backward=*/false);
  converter.run({converter.ofQ(par_attention_q, what.q_stride), converter.ofK(par_attention_k, what.k_stride),
                 converter.ofV(par_attention_v, what.v_stride)},
                {converter.ofOut(par_attention_out)}, par_attention_forward_buffers,
                [&](par_attention &part, void **list) { par_attention_forward(context, &part, list); });
}

extern "C" void par_attention_backward_bf16(void *context, void *description, void *bufferList,
                                            void *workspace, int64_t bytes) {
  using namespace par::cpu;
  const par_attention &what = *static_cast<par_attention *>(description);
  if (usedBf16Units() != Bf16Units::none)
    return attendBackwardByUnits(context, what, static_cast<void *const *>(bufferList),
                                 static_cast<float *>(workspace), bytes);
  Converter converter(context, what, static_cast<void *const *>(bufferList), static_cast<float *>(workspace),
                      bytes, /*backward=*/true);
  converter.run({converter.ofQ(par_attention_q, what.q_stride), converter.ofK(par_attention_k, what.k_stride),
                 converter.ofV(par_attention_v, what.v_stride), converter.ofOut(par_attention_out),
                 converter.ofOut(par_attention_dout)},
                {converter.ofQ(par_attention_dq, what.dq_stride),
                 converter.ofK(par_attention_dk, what.dk_stride),
                 converter.ofV(par_attention_dv, what.dv_stride)},
                par_attention_backward_buffers,
                [&](par_attention &part, void **list) { par_attention_backward(context, &part, list); });
}
