#include "cpu/AttentionTile.h"

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

/// -inf where a query's position is outside [low, high].
PAR_CLONES void maskRow(float *row, const int32_t *queries, int64_t count, int32_t low, int32_t high) {
  const float hidden = -std::numeric_limits<float>::infinity();
  for (int64_t j = 0; j < count; ++j)
    row[j] = queries[j] >= low && queries[j] <= high ? row[j] : hidden;
}

void maskTile(const AttentionView &attention, const Tile &tile, Scores &scores) {
  const par_attention &what = attention.what;
  for (int64_t i = 0; i < tile.keys; ++i) {
    int64_t key = attention.kPositions[tile.k + i];
    // Without a rule its bound lies beyond every position.
    int64_t low = what.causal ? key : INT32_MIN, high = what.window ? key + what.window - 1 : INT32_MAX;
    maskRow(scores + i * qTile, attention.qPositions + tile.q, tile.rows, int32_t(low),
            int32_t(std::clamp<int64_t>(high, INT32_MIN, INT32_MAX)));
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
  for (int64_t i = 0; i < tile.keys; ++i) {
    int64_t first = (offsets[1] + tile.q) * what.strides[1] + (offsets[2] + head.kvHead) * what.strides[2] +
                    (offsets[3] + head.group) * what.strides[3] + (offsets[4] + tile.k + i) * what.strides[4];
    dropoutRow(keep + i * qTile, qTile, first, what.strides[1], row, uint32_t(*attention.site),
               uint32_t(attention.key[0]), uint32_t(attention.key[1]), threshold,
               1.0f / (1.0f - what.dropout));
  }
}

namespace {
using Four = float __attribute__((vector_size(16)));

/// Four rows of four become four columns, scaled.
PAR_INLINE void transposeFour(const float *from, int64_t stride, float scale, float *to, int64_t toStride) {
  Four a, b, c, d;
  load(a, from), load(b, from + stride), load(c, from + 2 * stride), load(d, from + 3 * stride);
  Four low = __builtin_shufflevector(a, b, 0, 4, 1, 5), lowOther = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  Four high = __builtin_shufflevector(a, b, 2, 6, 3, 7),
       highOther = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  store(__builtin_shufflevector(low, lowOther, 0, 1, 4, 5) * scale, to);
  store(__builtin_shufflevector(low, lowOther, 2, 3, 6, 7) * scale, to + toStride);
  store(__builtin_shufflevector(high, highOther, 0, 1, 4, 5) * scale, to + 2 * toStride);
  store(__builtin_shufflevector(high, highOther, 2, 3, 6, 7) * scale, to + 3 * toStride);
}

/// to[column * toStride + row] = scale * from[row * stride + column]
void transpose(const float *from, int64_t stride, int64_t rows, int64_t columns, float scale, float *to,
               int64_t toStride) {
  int64_t wholeRows = rows / 4 * 4, wholeColumns = columns / 4 * 4;
  for (int64_t row = 0; row < wholeRows; row += 4)
    for (int64_t column = 0; column < wholeColumns; column += 4)
      transposeFour(from + row * stride + column, stride, scale, to + column * toStride + row, toStride);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = row < wholeRows ? wholeColumns : 0; column < columns; ++column)
      to[column * toStride + row] = scale * from[row * stride + column];
}
} // namespace

void packTransposed(const float *from, int64_t stride, int64_t rows, int64_t columns, float scale,
                    float *to) {
  transpose(from, stride, rows, columns, scale, to, qTile);
  for (int64_t column = 0; rows < qTile && column < columns; ++column)
    std::fill(to + column * qTile + rows, to + (column + 1) * qTile, 0.0f);
}

void unpackTransposed(const float *from, int64_t rows, int64_t columns, float scale, float *to,
                      int64_t stride) {
  transpose(from, qTile, columns, rows, scale, to, stride);
}

PAR_CLONES void packRows(const float *from, int64_t stride, int64_t rows, int64_t columns,
                         int64_t paddedColumns, float scale, float *to) {
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column)
      to[row * paddedColumns + column] = scale * from[row * stride + column];
    for (int64_t column = columns; column < paddedColumns; ++column)
      to[row * paddedColumns + column] = 0;
  }
}

PAR_CLONES void addRows(const float *from, int64_t paddedColumns, int64_t rows, int64_t columns, float *to,
                        int64_t stride) {
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      to[row * stride + column] += from[row * paddedColumns + column];
}

} // namespace par::cpu
