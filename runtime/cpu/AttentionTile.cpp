#include "cpu/AttentionTile.h"

#include "cpu/Bf16.h"
#include "cpu/Simd.h"
#include "par/io/Philox.h"

#include <limits>

namespace par::cpu {

float AttentionView::sinkOf(int64_t kvHead, int64_t group) const {
  if (!sinks)
    return -std::numeric_limits<float>::infinity();
  int64_t head = kvHead * what.group + group;
  return what.sinks_bf16 ? widen(static_cast<const uint16_t *>(sinks)[head])
                         : static_cast<const float *>(sinks)[head];
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

void dropoutPart(const AttentionView &attention, const Head &head, const Tile &tile, const TilePart &part,
                 Scores &keep) {
  const par_attention &what = attention.what;
  const int32_t *offsets = attention.offsets;
  uint32_t row = uint32_t(*attention.row + offsets[0] + head.batch);
  // dropout < 1, so the threshold fits.
  uint32_t threshold = uint32_t(io::dropoutThreshold(double(what.dropout)));
  for (int64_t i = part.key; i < part.key + part.keys; ++i) {
    int64_t first = (offsets[1] + tile.q + part.query) * what.strides[1] +
                    (offsets[2] + head.kvHead) * what.strides[2] +
                    (offsets[3] + head.group) * what.strides[3] + (offsets[4] + tile.k + i) * what.strides[4];
    dropoutRow(keep + i * qTile + part.query, part.queries, first, what.strides[1], row,
               uint32_t(*attention.site), uint32_t(attention.key[0]), uint32_t(attention.key[1]), threshold,
               1.0f / (1.0f - what.dropout));
  }
}

} // namespace par::cpu
