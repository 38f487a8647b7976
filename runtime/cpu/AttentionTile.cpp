#include "cpu/AttentionTile.h"

#include "cpu/Multiply.h"
#include "cpu/Simd.h"
#include "par/io/Philox.h"

#include <cmath>
#include <limits>

namespace par::cpu {

Visibility visibilityOf(const AttentionView &attention, const Tile &tile) {
  auto [qLow, qHigh] =
      std::minmax_element(attention.qPositions + tile.q, attention.qPositions + tile.q + tile.rows);
  auto [kLow, kHigh] =
      std::minmax_element(attention.kPositions + tile.k, attention.kPositions + tile.k + tile.keys);
  bool causal = attention.what.causal;
  int64_t window = attention.what.window;
  if ((causal && *kLow > *qHigh) || (window && int64_t(*qLow) - *kHigh >= window))
    return Visibility::none;
  bool all = (!causal || *kHigh <= *qLow) && (!window || int64_t(*qHigh) - *kLow < window);
  return all ? Visibility::all : Visibility::some;
}

/// -inf where position `query` does not see a key.
PAR_CLONES void maskRow(float *row, const int32_t *keys, int64_t count, int32_t query, bool causal,
                        int64_t window) {
  const float hidden = -std::numeric_limits<float>::infinity();
  // Without a rule its bound lies beyond every position.
  int64_t last = causal ? query : std::numeric_limits<int64_t>::max();
  int64_t first = window ? int64_t(query) - window : std::numeric_limits<int64_t>::min();
  int32_t high = int32_t(std::clamp<int64_t>(last, INT32_MIN, INT32_MAX));
  int64_t low = first;
  if (low >= INT32_MIN) {
    int32_t bound = int32_t(low);
    for (int64_t j = 0; j < count; ++j)
      row[j] = keys[j] <= high && keys[j] > bound ? row[j] : hidden;
  } else {
    for (int64_t j = 0; j < count; ++j)
      row[j] = keys[j] <= high ? row[j] : hidden;
  }
}

void scoreTile(const AttentionView &attention, const Head &head, const Tile &tile, Visibility visibility,
               Scores &scores) {
  const par_attention &what = attention.what;
  multiply(false, true, tile.rows, tile.keys, what.head_dim, what.scale,
           attention.q + head.inQueries(attention, tile.q, what.q_stride), what.q_stride,
           attention.k + head.inKeys(attention, tile.k, what.k_stride), what.k_stride, 0.0f, scores, kTile);
  for (int64_t i = 0; i < tile.rows; ++i) {
    float *row = scores + i * kTile;
    std::fill(row + tile.keys, row + tile.width(), -std::numeric_limits<float>::infinity());
    if (visibility == Visibility::some)
      maskRow(row, attention.kPositions + tile.k, tile.keys, attention.qPositions[tile.q + i], what.causal,
              what.window);
  }
}

/// keep[j] for the elements first, first + stride, …
PAR_CLONES void dropoutRow(float *keep, int64_t count, int64_t first, int64_t stride, uint32_t row,
                           uint32_t site, uint32_t key0, uint32_t key1, uint32_t threshold, float scale) {
  for (int64_t j = 0; j < count; ++j) {
    uint64_t element = uint64_t(first + j * stride);
    io::PhiloxWords words = io::philox(uint32_t(element), uint32_t(element >> 32), row, site, key0, key1);
    keep[j] = words.word[0] >= threshold ? scale : 0.0f;
  }
}

void dropoutTile(const AttentionView &attention, const Head &head, const Tile &tile, Scores &keep) {
  const par_attention &what = attention.what;
  const int32_t *offsets = attention.offsets;
  uint32_t row = uint32_t(*attention.row + offsets[0] + head.batch);
  // dropout < 1, so the threshold fits.
  uint32_t threshold = uint32_t(io::dropoutThreshold(double(what.dropout)));
  for (int64_t i = 0; i < tile.rows; ++i) {
    int64_t first = (offsets[1] + tile.q + i) * what.strides[1] +
                    (offsets[2] + head.kvHead) * what.strides[2] +
                    (offsets[3] + head.group) * what.strides[3] + (offsets[4] + tile.k) * what.strides[4];
    dropoutRow(keep + i * kTile, tile.width(), first, what.strides[4], row, uint32_t(*attention.site),
               uint32_t(attention.key[0]), uint32_t(attention.key[1]), threshold,
               1.0f / (1.0f - what.dropout));
  }
}

} // namespace par::cpu
