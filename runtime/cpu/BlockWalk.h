/// The way through the tiles of a block of C, whatever computes one. `Tile` gives
///   columns, rows, panelOfA, large;
///   multiply<rows>(product, a, b, addend, c, stride): c[rows, columns] = beta addend + A B, from a panel of
///   A and one of B.
#ifndef PAR_CPU_BLOCKWALK_H
#define PAR_CPU_BLOCKWALK_H

#include "cpu/BlockKernels.h"
#include "cpu/Lanes.h"

#include <algorithm>

namespace par::cpu {

/// Columns of B that stay in the second cache while rows of A go by.
constexpr int64_t cachedColumns = 256;

/// Columns [begin, end) of `rows` rows of a block, `a` being their panel.
template <typename Tile, int rows>
PAR_INLINE void multiplyRow(const BlockProduct &p, int64_t row, int64_t begin, int64_t end, const float *a) {
  constexpr int64_t wide = Tile::columns;
  float *c = p.c + row * p.ldc;
  const float *addend = p.addend ? p.addend + row * p.ldc : nullptr;
  for (int64_t column = begin; column < end; column += wide) {
    const float *b = p.b + column * p.words;
    if (column + wide <= p.columns) {
      Tile::template multiply<rows>(p, a, b, addend ? addend + column : nullptr, c + column, p.ldc);
      continue;
    }
    alignas(64) float tile[rows * wide];
    Tile::template multiply<rows>(p, a, b, nullptr, tile, wide);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; column + j < p.columns; ++j) {
        int64_t at = i * p.ldc + column + j;
        c[at] = addend ? tile[i * wide + j] + addend[at] * p.beta : tile[i * wide + j];
      }
  }
}

/// As many times `rows` rows as are left.
template <typename Tile, int rows>
PAR_INLINE void multiplyRowsBy(const BlockProduct &p, int64_t &row, int64_t begin, int64_t end) {
  for (; row + rows <= p.rows; row += rows)
    multiplyRow<Tile, rows>(p, row, begin, end,
                            p.a + row / Tile::rows * Tile::panelOfA +
                                row % Tile::rows * (p.transposedA ? 1 : mostWords));
}

template <typename Tile>
PAR_INLINE void multiplyBlocks(const BlockProduct &p) {
  for (int64_t begin = 0; begin < p.columns; begin += cachedColumns) {
    int64_t row = 0, end = std::min(begin + cachedColumns, p.columns);
    multiplyRowsBy<Tile, Tile::rows>(p, row, begin, end);
    if constexpr (Tile::large)
      multiplyRowsBy<Tile, 8>(p, row, begin, end);
    multiplyRowsBy<Tile, 4>(p, row, begin, end);
    multiplyRowsBy<Tile, 1>(p, row, begin, end);
  }
}

} // namespace par::cpu
#endif
