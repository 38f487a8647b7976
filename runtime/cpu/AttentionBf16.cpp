// Attention on bf16: a few rows of the batch at a time are widened into the workspace and go through the f32
// attention; what it gives is rounded once.
#include "cpu/Bf16.h"
#include "cpu/Context.h"
#include "par/runtime.h"

#include <algorithm>

namespace par::cpu {
namespace {

/// Where the buffers of one call lie: q and what has its shape, k and what has its shape.
class Converter {
public:
  Converter(void *context, const par_attention &what, void *const *buffers, float *workspace, int64_t bytes,
            bool backward)
      : context(context), what(what), buffers(buffers), workspace(workspace),
        qSize(what.q_rows * what.kv_heads * what.group * what.head_dim),
        kSize(what.k_rows * what.kv_heads * what.head_dim),
        rows(std::clamp<int64_t>(bytes / par_attention_bf16_workspace(&what, backward), 1, what.batch)) {}

  /// Calls `compute(part, list)` for every few rows. `list` has all buffers; those named by `inputs` and
  /// `outputs`, pairs of (number, has q's shape), lie in f32 in the workspace.
  template <typename Compute>
  void run(std::initializer_list<std::pair<int, bool>> inputs,
           std::initializer_list<std::pair<int, bool>> outputs, int count, Compute &&compute) {
    for (int64_t row = 0; row < what.batch; row += rows) {
      par_attention part = what;
      part.batch = std::min(rows, what.batch - row);
      void *list[16];
      std::copy(buffers, buffers + count, list);
      int32_t offsets[5];
      if (list[8]) { // dropout numbers the rows of the whole batch
        std::copy_n(static_cast<int32_t *>(list[8]), 5, offsets);
        offsets[0] += int32_t(row);
        list[8] = offsets;
      }
      float *next = workspace;
      for (auto [number, likeQ] : inputs)
        next = place(list[number], likeQ, row, part.batch, next, /*reads=*/true);
      void *stored[3];
      int position = 0;
      for (auto [number, likeQ] : outputs) {
        stored[position++] = list[number];
        if (list[number])
          next = place(list[number], likeQ, row, part.batch, next, /*reads=*/false);
      }
      compute(part, list, row);
      position = 0;
      for (auto [number, likeQ] : outputs) {
        int64_t size = likeQ ? qSize : kSize;
        if (auto *to = static_cast<uint16_t *>(stored[position++]))
          convert(part.batch * size, [&](int64_t begin, int64_t end) {
            roundRow(static_cast<float *>(list[number]) + begin, to + row * size + begin, end - begin);
          });
      }
    }
  }

private:
  /// Puts f32 memory in the place of a bf16 buffer; returns what follows it.
  float *place(void *&buffer, bool likeQ, int64_t row, int64_t count, float *memory, bool reads) {
    int64_t size = likeQ ? qSize : kSize;
    const uint16_t *from = static_cast<uint16_t *>(buffer) + row * size;
    if (reads)
      convert(count * size,
              [&](int64_t begin, int64_t end) { widenRow(from + begin, memory + begin, end - begin); });
    buffer = memory;
    return memory + count * size;
  }

  template <typename Range>
  void convert(int64_t elements, Range &&range) {
    constexpr int64_t enough = 16384; // below this a wake-up takes longer
    runParts(poolOf(context), elements / enough, [&](int64_t part, int64_t parts) {
      range(elements * part / parts, elements * (part + 1) / parts);
    });
  }

  void *context;
  const par_attention &what;
  void *const *buffers;
  float *workspace;
  int64_t qSize, kSize, rows;
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
  auto *buffers = static_cast<void *const *>(bufferList);
  Converter converter(context, what, buffers, static_cast<float *>(workspace), bytes, /*backward=*/false);
  converter.run({{0, true}, {1, false}, {2, false}}, {{9, true}}, 11,
                [&](par_attention &part, void **list, int64_t row) {
                  list[10] = static_cast<float *>(list[10]) + lseOffset(what, row);
                  par_attention_forward(context, &part, list);
                });
}

extern "C" void par_attention_backward_bf16(void *context, void *description, void *bufferList,
                                            void *workspace, int64_t bytes) {
  using namespace par::cpu;
  const par_attention &what = *static_cast<par_attention *>(description);
  auto *buffers = static_cast<void *const *>(bufferList);
  Converter converter(context, what, buffers, static_cast<float *>(workspace), bytes, /*backward=*/true);
  converter.run({{0, true}, {1, false}, {2, false}, {9, true}, {11, true}},
                {{12, true}, {13, false}, {14, false}}, 16,
                [&](par_attention &part, void **list, int64_t row) {
                  for (int number : {10, 15})
                    list[number] = static_cast<float *>(list[number]) + lseOffset(what, row);
                  par_attention_backward(context, &part, list);
                });
}
