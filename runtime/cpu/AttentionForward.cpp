#include "cpu/AttentionTile.h"
#include "cpu/Context.h"
#include "cpu/Multiply.h"
#include "cpu/Simd.h"

#include <cmath>
#include <limits>

// Dao et al., "FlashAttention", 2022, algorithm 1, with the accumulator kept unnormalised (FlashAttention-2,
// 2023): per query row the running maximum m, the running denominator l and the output so far.

namespace par::cpu {

/// Turns scores into exp(score - m') and updates m and l; returns the factor exp(m - m') for what was summed
/// before.
PAR_CLONES float softmaxRow(float *row, int64_t width, float &m, float &l) {
  const float lowest = -std::numeric_limits<float>::infinity();
  float lanes[16];
  for (int i = 0; i < 16; ++i)
    lanes[i] = lowest;
  for (int64_t j = 0; j < width; j += 16)
    for (int i = 0; i < 16; ++i)
      lanes[i] = row[j + i] > lanes[i] ? row[j + i] : lanes[i];
  float highest = m;
  for (float lane : lanes)
    highest = lane > highest ? lane : highest;
  // A row that has seen no key yet: every score is -inf, and -inf - -inf would be NaN.
  float base = highest == lowest ? 0.0f : highest;
  float sums[16] = {0};
  for (int64_t j = 0; j < width; j += 16)
    for (int i = 0; i < 16; ++i) {
      row[j + i] = fastExp(row[j + i] - base);
      sums[i] += row[j + i];
    }
  float sum = 0;
  for (float lane : sums)
    sum += lane;
  float factor = m == lowest ? 0.0f : fastExp(m - base);
  l = l * factor + sum;
  m = highest;
  return factor;
}

PAR_CLONES void scaleRow(float *row, int64_t count, float factor) {
  for (int64_t i = 0; i < count; ++i)
    row[i] *= factor;
}

PAR_CLONES void multiplyRow(float *row, const float *other, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    row[i] *= other[i];
}

/// Rows [q, q + rows) of one head.
static void forwardBlock(const AttentionView &attention, const Head &head, int64_t q, int64_t rows,
                         float *out, float *lse) {
  alignas(64) thread_local Scores scores, keep;
  const par_attention &what = attention.what;
  float m[qTile], l[qTile];
  std::fill_n(m, rows, -std::numeric_limits<float>::infinity());
  std::fill_n(l, rows, 0.0f);
  const int64_t outStride = attention.outStride();
  float *first = out + head.inQueries(attention, q, outStride);
  for (int64_t i = 0; i < rows; ++i)
    std::fill_n(first + i * outStride, what.head_dim, 0.0f);
  for (int64_t k = 0; k < what.k_rows; k += kTile) {
    Tile tile{q, rows, k, std::min(kTile, what.k_rows - k)};
    Visibility visibility = visibilityOf(attention, tile);
    if (visibility == Visibility::none)
      continue;
    scoreTile(attention, head, tile, visibility, scores);
    if (what.dropout > 0)
      dropoutTile(attention, head, tile, keep);
    for (int64_t i = 0; i < rows; ++i) {
      float factor = softmaxRow(scores + i * kTile, tile.width(), m[i], l[i]);
      if (factor != 1.0f)
        scaleRow(first + i * outStride, what.head_dim, factor);
      if (what.dropout > 0) // of the probabilities: the denominator counts dropped elements too
        multiplyRow(scores + i * kTile, keep + i * kTile, tile.keys);
    }
    multiply(false, false, rows, what.head_dim, tile.keys, 1.0f, scores, kTile,
             attention.v + head.inKeys(attention, k, what.v_stride), what.v_stride, 1.0f, first, outStride);
  }
  for (int64_t i = 0; i < rows; ++i) {
    if (l[i] != 0)
      scaleRow(first + i * outStride, what.head_dim, 1.0f / l[i]);
    lse[head.lseOffset(attention) + q + i] =
        l[i] != 0 ? m[i] + std::log(l[i]) : -std::numeric_limits<float>::infinity();
  }
}

} // namespace par::cpu

extern "C" void par_attention_forward(void *context, void *description, void *bufferList) {
  using namespace par::cpu;
  const par_attention &what = *static_cast<par_attention *>(description);
  void *const *buffers = static_cast<void *const *>(bufferList);
  AttentionView attention(what, buffers);
  int64_t heads = what.batch * what.kv_heads * what.group, blocks = (what.q_rows + qTile - 1) / qTile;
  beat(context);
  // Later rows see more keys: neighbouring blocks go to different threads.
  runParts(poolOf(context), heads * blocks, [&](int64_t part, int64_t parts) {
    for (int64_t item = part; item < heads * blocks; item += parts) {
      int64_t head = item / blocks, q = item % blocks * qTile;
      forwardBlock(attention,
                   {head / what.group / what.kv_heads, head / what.group % what.kv_heads, head % what.group},
                   q, std::min(qTile, what.q_rows - q), static_cast<float *>(buffers[9]),
                   static_cast<float *>(buffers[10]));
    }
  });
}
