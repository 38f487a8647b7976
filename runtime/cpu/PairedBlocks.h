/// Blocks of bf16 matrices packed in pairs of terms, as AVX512-BF16 and AMX take them: a word holds terms 2i
/// and 2i + 1 of a row, the first one in its lower half. What is beyond the terms or columns is 0.
#ifndef PAR_CPU_PAIREDBLOCKS_H
#define PAR_CPU_PAIREDBLOCKS_H

#include "cpu/BlockKernels.h"
#include "cpu/Transpose.h"

#include <algorithm>
#include <cstring>

namespace par::cpu {

/// Vectors of the processors that have such units.
using PairLanes = Lanes<64>;
/// Columns of a panel of B.
constexpr int64_t pairedColumns = 2 * PairLanes::width;

PAR_INLINE int64_t wordsOfPairs(int64_t terms, int64_t granule) {
  return (terms + 2 * granule - 1) / (2 * granule) * granule;
}

/// to = the pairs of `count` <= 16 neighbours in two rows; `second` may be null: zeros.
PAR_INLINE void pairRows(const uint16_t *first, const uint16_t *second, int64_t count, float *to) {
  PairLanes::Words low{}, high{};
  if (count == PairLanes::width) {
    load(low, first);
    if (second)
      load(high, second);
  } else if (count > 0) { // else there may be no row at all
    std::memcpy(&low, first, size_t(count) * 2);
    if (second)
      std::memcpy(&high, second, size_t(count) * 2);
  }
  using Unsigned = uint32_t __attribute__((vector_size(64)));
  Unsigned pairs = __builtin_convertvector(low, Unsigned) | __builtin_convertvector(high, Unsigned) << 16;
  store(pairs, to);
}

/// Rows of B, given one term after the other, into panels.
PAR_INLINE void pairRowsOfB(const uint16_t *from, int64_t stride, int64_t columns, int64_t terms,
                            int64_t words, float *to) {
  constexpr int64_t ahead = 4; // rows; the prefetcher of the hardware does not see strides beyond a page
  for (int64_t word = 0; word < words; ++word, to += pairedColumns) {
    const uint16_t *first = from + 2 * word * stride,
                   *second = 2 * word + 1 < terms ? first + stride : nullptr;
    float *at = to;
    for (int64_t column = 0; column < columns; column += pairedColumns, at += pairedColumns * words)
      for (int64_t j = 0; j < pairedColumns; j += PairLanes::width) {
        int64_t count = std::clamp<int64_t>(columns - column - j, 0, PairLanes::width);
        if (2 * word >= terms)
          count = 0;
        if (count)
          __builtin_prefetch(first + ahead * stride + column + j);
        const uint16_t *from1 = count ? first + column + j : nullptr;
        pairRows(from1, count && second ? second + column + j : nullptr, count, at + j);
      }
  }
}

/// 16 rows of pairs, each of which lies in one piece, from `from` on, `stride` elements apart; rows from
/// `filled` on are 0.
PAR_INLINE void loadPairs(const uint16_t *from, int64_t stride, int64_t filled,
                          PairLanes::Floats (&rows)[PairLanes::width]) {
#pragma clang loop unroll(full)
  for (int64_t i = 0; i < PairLanes::width; ++i) {
    rows[i] = PairLanes::Floats{};
    if (i < filled) {
      load(rows[i], from + i * stride);
      __builtin_prefetch(from + i * stride + 64); // the hardware does not follow so many rows
    }
  }
}

/// A panel of B given transposed: `columns` rows of terms. `toStride` words between two words of a column.
PAR_INLINE void pairPanelOfTransposedB(const uint16_t *from, int64_t stride, int64_t columns, int64_t terms,
                                       int64_t words, float *to, int64_t toStride = pairedColumns) {
  constexpr int64_t side = PairLanes::width;
  for (int64_t column = 0; column < pairedColumns; column += side, from += side * stride) {
    int64_t filled = std::clamp<int64_t>(columns - column, 0, side);
    PairLanes::Floats rows[side];
    for (int64_t word = 0; word < words; word += side) {
      if (2 * (word + side) <= terms) {
        loadPairs(from + 2 * word, stride, filled, rows);
      } else { // the end of the terms
        alignas(64) uint16_t rest[side][2 * side] = {};
        for (int64_t i = 0; i < filled && 2 * word < terms; ++i)
          std::memcpy(rest[i], from + i * stride + 2 * word, size_t(terms - 2 * word) * 2);
        loadPairs(rest[0], 2 * side, side, rows);
      }
      transposeVectors<PairLanes>(rows);
      for (int64_t i = 0; i < std::min(side, words - word); ++i)
        store(rows[i], to + (word + i) * toStride + column);
    }
  }
}

/// Columns [begin, end) of B, in panels of words[terms][columns].
PAR_INLINE void pairB(const Bf16Product &p, Terms of, int64_t begin, int64_t end, int64_t granule,
                      float *to) {
  int64_t words = wordsOfPairs(of.terms, granule);
  if (!p.transpose_b)
    return pairRowsOfB(p.b + of.term * p.ldb + begin, p.ldb, end - begin, of.terms, words, to);
  for (int64_t column = begin; column < end; column += pairedColumns, to += pairedColumns * words)
    pairPanelOfTransposedB(p.b + column * p.ldb + of.term, p.ldb, end - column, of.terms, words, to);
}

/// 16 rows of a transposed A, which has a row of `count` <= 16 elements per term, `stride` apart: to[i] are
/// the pairs of row i.
PAR_INLINE void pairRowsOfTransposedA(const uint16_t *from, int64_t stride, int64_t count, int64_t terms,
                                      int64_t words, float *to, int64_t toStride) {
  constexpr int64_t side = PairLanes::width;
  for (int64_t word = 0; word < words; word += side) {
    alignas(64) float pairs[side][side];
    for (int64_t i = 0; i < side; ++i) {
      int64_t term = 2 * (word + i);
      const uint16_t *first = from + term * stride;
      pairRows(first, term + 1 < terms ? first + stride : nullptr, term < terms ? count : 0, pairs[i]);
    }
    PairLanes::Floats square[side];
    for (int64_t i = 0; i < side; ++i)
      load(square[i], pairs[i]);
    transposeVectors<PairLanes>(square);
    for (int64_t i = 0; i < side; ++i)
      store(square[i], to + i * toStride + word);
  }
}

/// One row of A, given in one piece.
PAR_INLINE void pairRowOfA(const uint16_t *from, int64_t terms, int64_t words, float *to) {
  std::memcpy(to, from, size_t(terms) * 2);
  std::memset(reinterpret_cast<char *>(to) + terms * 2, 0, size_t(words * 4 - terms * 2));
}

} // namespace par::cpu
#endif
