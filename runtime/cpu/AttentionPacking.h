/// Copies of attention's operands: transposed, or rows side by side.
#ifndef PAR_CPU_ATTENTIONPACKING_H
#define PAR_CPU_ATTENTIONPACKING_H

#include "cpu/AttentionTile.h"
#include "cpu/Transpose.h"

namespace par::cpu {

/// A square of vectors of `transpose`.
template <typename L>
PAR_INLINE void transposeSquare(const float *from, int64_t stride, float scale, float *to, int64_t toStride) {
  typename L::Floats rows[L::width];
#pragma clang loop unroll(full)
  for (int i = 0; i < L::width; ++i) {
    load(rows[i], from + i * stride);
    rows[i] *= scale;
  }
  transposeVectors<L>(rows);
#pragma clang loop unroll(full)
  for (int i = 0; i < L::width; ++i)
    store(rows[i], to + i * toStride);
}

/// to[column * toStride + row] = scale * from[row * stride + column]
template <typename L>
PAR_INLINE void transpose(const float *from, int64_t stride, int64_t rows, int64_t columns, float scale,
                          float *to, int64_t toStride) {
  int64_t wholeRows = rows / L::width * L::width, wholeColumns = columns / L::width * L::width;
  for (int64_t row = 0; row < wholeRows; row += L::width)
    for (int64_t column = 0; column < wholeColumns; column += L::width)
      transposeSquare<L>(from + row * stride + column, stride, scale, to + column * toStride + row, toStride);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = row < wholeRows ? wholeColumns : 0; column < columns; ++column)
      to[column * toStride + row] = scale * from[row * stride + column];
}

/// to[column * qTile + row] = scale * from[row * stride + column]; rows up to qTile become 0.
template <typename L>
PAR_INLINE void packTransposed(const float *from, int64_t stride, int64_t rows, int64_t columns, float scale,
                               float *to) {
  transpose<L>(from, stride, rows, columns, scale, to, qTile);
  for (int64_t column = 0; rows < qTile && column < columns; ++column)
    std::fill(to + column * qTile + rows, to + (column + 1) * qTile, 0.0f);
}

/// to[row * stride + column] = scale * from[column * qTile + row].
template <typename L>
PAR_INLINE void unpackTransposed(const float *from, int64_t rows, int64_t columns, float scale, float *to,
                                 int64_t stride) {
  transpose<L>(from, qTile, columns, rows, scale, to, stride);
}

/// to[row * paddedColumns + column] = scale * from[row * stride + column]; columns up to paddedColumns, a
/// multiple of 16, become 0.
template <typename L>
PAR_INLINE void packRows(const float *from, int64_t stride, int64_t rows, int64_t columns,
                         int64_t paddedColumns, float scale, float *to) {
  int64_t whole = columns / L::width * L::width;
  for (int64_t row = 0; row < rows; ++row, from += stride, to += paddedColumns) {
    for (int64_t column = 0; column < whole; column += L::width) {
      typename L::Floats values;
      load(values, from + column);
      values *= scale;
      store(values, to + column);
    }
    for (int64_t column = whole; column < paddedColumns; ++column)
      to[column] = column < columns ? scale * from[column] : 0;
  }
}

/// Rows that are needed soon, on their way into the second cache.
PAR_INLINE void prefetchRows(const float *from, int64_t stride, int64_t rows, int64_t columns) {
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; column += 16)
      __builtin_prefetch(from + row * stride + column, 0, 2);
}

/// to[row * stride + column] += from[row * paddedColumns + column]
template <typename L>
PAR_INLINE void addRows(const float *from, int64_t paddedColumns, int64_t rows, int64_t columns, float *to,
                        int64_t stride) {
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      to[row * stride + column] += from[row * paddedColumns + column];
}

} // namespace par::cpu
#endif
