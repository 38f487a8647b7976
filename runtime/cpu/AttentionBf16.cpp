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

/// A buffer of a call: its number in the list, whether it has q's shape or k's, elements between its rows.
struct Tensor {
  int number;
  bool likeQ;
  int64_t stride;
};

class Converter {
public:
  Converter(void *context, const par_attention &what, void *const *buffers, float *workspace, int64_t bytes,
            bool backward)
      : context(context), what(what), buffers(buffers), workspace(workspace),
        batch(std::clamp<int64_t>(bytes / par_attention_bf16_workspace(&what, backward), 1, what.batch)) {}

  int64_t width(bool likeQ) const { return what.kv_heads * what.head_dim * (likeQ ? what.group : 1); }

  /// Calls `compute(part, list, row)` for every few rows of the batch, from `row` on. `list` has all `count`
  /// buffers; `inputs` and `outputs` among them lie in f32 in the workspace, their rows one after the other.
  template <typename Compute>
  void run(std::initializer_list<Tensor> inputs, std::initializer_list<Tensor> outputs, int count,
           Compute &&compute) {
    for (int64_t row = 0; row < what.batch; row += batch) {
      par_attention part = what;
      part.batch = std::min(batch, what.batch - row);
      part.q_stride = part.dq_stride = width(true);
      part.k_stride = part.v_stride = part.dk_stride = part.dv_stride = width(false);
      void *list[15];
      std::copy(buffers, buffers + count, list);
      int32_t offsets[5];
      if (list[8]) { // dropout numbers the rows of the whole batch
        std::copy_n(static_cast<int32_t *>(list[8]), 5, offsets);
        offsets[0] += int32_t(row);
        list[8] = offsets;
      }
      float *next = workspace;
      for (const Tensor &tensor : inputs)
        next = widen(tensor, row, part.batch, list, next);
      for (const Tensor &tensor : outputs)
        if (list[tensor.number]) {
          list[tensor.number] = next;
          next += part.batch * rows(tensor) * width(tensor.likeQ);
        }
      compute(part, list, row);
      for (const Tensor &tensor : outputs)
        if (list[tensor.number])
          round(tensor, row, part.batch, static_cast<float *>(list[tensor.number]));
    }
  }

private:
  int64_t rows(const Tensor &tensor) const { return tensor.likeQ ? what.q_rows : what.k_rows; }

  uint16_t *memory(const Tensor &tensor, int64_t row) const {
    return static_cast<uint16_t *>(buffers[tensor.number]) + row * rows(tensor) * tensor.stride;
  }

  float *widen(const Tensor &tensor, int64_t row, int64_t count, void **list, float *to) {
    const uint16_t *from = memory(tensor, row);
    int64_t wide = width(tensor.likeQ);
    convert(count * rows(tensor), wide,
            [&](int64_t i) { widenRow(from + i * tensor.stride, to + i * wide, wide); });
    list[tensor.number] = to;
    return to + count * rows(tensor) * wide;
  }

  void round(const Tensor &tensor, int64_t row, int64_t count, const float *from) {
    uint16_t *to = memory(tensor, row);
    int64_t wide = width(tensor.likeQ);
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

/// Elements of lse in the rows of the batch before `row`.
int64_t lseOffset(const par_attention &what, int64_t row) {
  return row * what.kv_heads * what.group * what.q_rows;
}

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
  converter.run({{0, true, what.q_stride}, {1, false, what.k_stride}, {2, false, what.v_stride}},
                {{9, true, converter.width(true)}}, 11, [&](par_attention &part, void **list, int64_t row) {
                  list[10] = static_cast<float *>(list[10]) + lseOffset(what, row);
                  par_attention_forward(context, &part, list);
                });
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
  int64_t whole = converter.width(true);
  converter.run({{0, true, what.q_stride},
                 {1, false, what.k_stride},
                 {2, false, what.v_stride},
                 {9, true, whole},
                 {11, true, whole}},
                {{12, true, what.dq_stride}, {13, false, what.dk_stride}, {14, false, what.dv_stride}}, 15,
                [&](par_attention &part, void **list, int64_t row) {
                  list[10] = static_cast<float *>(list[10]) + lseOffset(what, row);
                  par_attention_backward(context, &part, list);
                });
}
