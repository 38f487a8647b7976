/// Blocks of f32 and bf16 matrices packed as f32 for the caches, and the product of two of them in registers.
/// Sizes of tiles are those of the processor's level, `L` (cpu/Lanes.h).
#ifndef PAR_CPU_PACKEDBLOCKS_H
#define PAR_CPU_PACKEDBLOCKS_H

#include "cpu/Bf16.h"
#include "cpu/BlockKernels.h"
#include "cpu/BlockWalk.h"
#include "cpu/PanelProduct.h"
#include "cpu/Transpose.h"
#include "par/runtime.h"

#include <algorithm>
#include <cstring>

namespace par::cpu {

/// What is computed in registers at a time.
template <typename L>
struct TileShape {
  static constexpr bool large = L::registers == 32;
  static constexpr int vectors = 2;
  static constexpr int64_t columns = vectors * L::width;
  static constexpr int rows = large ? 14 : 6;
  /// Words between two of a row in a transposed panel of A, and in a panel of A.
  static constexpr int64_t wordStride = large ? 16 : 8, panelOfA = wordStride * mostWords;
};

/// A vector of elements.
template <typename L>
PAR_INLINE void loadElements(typename L::Floats &vector, const float *from) {
  load(vector, from);
}
template <typename L>
PAR_INLINE void loadElements(typename L::Floats &vector, const uint16_t *from) {
  typename L::Words words;
  load(words, from);
  vector = (typename L::Floats)(__builtin_convertvector(words, typename L::Ints) << 16);
}

PAR_INLINE float element(float value) { return value; }
PAR_INLINE float element(uint16_t word) { return widen(word); }

template <typename L>
PAR_INLINE void copyElements(const float *from, float *to, int64_t count) {
  std::memcpy(to, from, size_t(count) * sizeof(float));
}
template <typename L>
PAR_INLINE void copyElements(const uint16_t *from, float *to, int64_t count) {
  int64_t i = 0;
  for (typename L::Floats vector; i + L::width <= count; i += L::width) {
    loadElements<L>(vector, from + i);
    store(vector, to + i);
  }
  for (; i < count; ++i)
    to[i] = widen(from[i]);
}

/// to = transposed from; both have as many rows and columns as a vector has lanes.
template <typename L, typename Element>
PAR_INLINE void transposeSquare(const Element *from, int64_t stride, float *to, int64_t toStride) {
  constexpr int side = L::width;
  typename L::Floats rows[side];
#pragma clang loop unroll(full)
  for (int i = 0; i < side; ++i) {
    loadElements<L>(rows[i], from + i * stride);
    __builtin_prefetch(from + i * stride + 2 * side); // the hardware does not follow so many rows
  }
  transposeVectors<L>(rows);
#pragma clang loop unroll(full)
  for (int i = 0; i < side; ++i)
    store(rows[i], to + i * toStride);
}

/// `columns` rows of a transposed B, those beyond becoming 0, into one panel.
template <typename L, typename Element>
PAR_INLINE void packPanelOfTransposedB(const Element *from, int64_t stride, int64_t columns, int64_t terms,
                                       float *to) {
  constexpr int64_t panel = TileShape<L>::columns, side = L::width;
  for (int64_t column = 0; column < panel; column += side, from += side * stride) {
    int64_t term = 0, filled = std::min(columns - column, side);
    for (; filled == side && term + side <= terms; term += side)
      transposeSquare<L>(from + term, stride, to + term * panel + column, panel);
    for (; term < terms; ++term)
      for (int64_t i = 0; i < side; ++i)
        to[term * panel + column + i] = i < filled ? element(from[i * stride + term]) : 0;
  }
}

/// Rows of B, columns beyond becoming 0.
template <typename L, typename Element>
PAR_INLINE void packRowsOfB(const Element *from, int64_t stride, int64_t columns, int64_t terms, float *to) {
  constexpr int64_t panel = TileShape<L>::columns;
  constexpr int64_t ahead = 2; // rows; the prefetcher of the hardware does not see strides beyond a page
  int64_t whole = columns / panel * panel;
  for (int64_t term = 0; term < terms; ++term, from += stride, to += panel) {
    for (int64_t column = 0; column < columns; column += 16)
      __builtin_prefetch(from + ahead * stride + column);
    float *at = to;
    for (int64_t column = 0; column < whole; column += panel, at += panel * terms)
#pragma clang loop unroll(full)
      for (int64_t j = 0; j < panel; j += L::width) {
        typename L::Floats vector;
        loadElements<L>(vector, from + column + j);
        store(vector, at + j);
      }
    for (int64_t j = 0; whole < columns && j < panel; ++j)
      at[j] = whole + j < columns ? element(from[whole + j]) : 0;
  }
}

/// Columns [begin, end) of B.
template <typename L, typename Product>
PAR_INLINE void packB(const Product &p, Terms of, int64_t begin, int64_t end, float *to) {
  constexpr int64_t panel = TileShape<L>::columns;
  if (!p.transpose_b)
    return packRowsOfB<L>(p.b + of.term * p.ldb + begin, p.ldb, end - begin, of.terms, to);
  for (int64_t column = begin; column < end; column += panel, to += panel * of.terms)
    packPanelOfTransposedB<L>(p.b + column * p.ldb + of.term, p.ldb, end - column, of.terms, to);
}

/// Asks for elements of another row than the one that is read: the hardware does not expect them.
template <typename Element>
PAR_INLINE void fetch(const Element *from, int64_t count) {
  for (int64_t i = 0; i < count; i += 64 / int64_t(sizeof(Element)))
    __builtin_prefetch(from + i);
}

/// Panels of a tile's rows of a transposed A, term by term.
template <typename L, typename Product>
PAR_INLINE void packTransposedA(const Product &p, Terms of, int64_t begin, int64_t end, float *to) {
  using Tile = TileShape<L>;
  constexpr int64_t ahead = 8; // terms
  const auto *from = p.a + of.term * p.lda;
  for (int64_t term = 0; term < of.terms; ++term, from += p.lda, to += Tile::wordStride) {
    if (term + ahead < of.terms)
      fetch(from + ahead * p.lda + begin, end - begin);
    float *at = to;
    for (int64_t row = begin; row < end; row += Tile::rows, at += Tile::panelOfA) {
      if (row + Tile::wordStride > p.m) {
        copyElements<L>(from + row, at, std::min<int64_t>(Tile::rows, end - row));
        continue;
      }
      // Some more than the panel's rows, in whole vectors.
#pragma clang loop unroll(full)
      for (int64_t i = 0; i < Tile::wordStride; i += L::width) {
        typename L::Floats vector;
        loadElements<L>(vector, from + row + i);
        store(vector, at + i);
      }
    }
  }
}

/// Rows [begin, end) of A.
template <typename L, typename Product>
PAR_INLINE void packA(const Product &p, Terms of, int64_t begin, int64_t end, float *to) {
  using Tile = TileShape<L>;
  if (p.transpose_a)
    return packTransposedA<L>(p, of, begin, end, to);
  constexpr int64_t ahead = 4; // rows
  for (int64_t row = begin; row < end; ++row) {
    if (row + ahead < end)
      fetch(p.a + (row + ahead) * p.lda + of.term, of.terms);
    copyElements<L>(p.a + row * p.lda + of.term,
                    to + (row - begin) / Tile::rows * Tile::panelOfA + (row - begin) % Tile::rows * mostWords,
                    of.terms);
  }
}

/// c[rows, TileShape::columns] = beta * addend + A B, from a panel of A whose element (row, term) is at
/// row * rowStep + term * termStep and one of B with a row of the tile's columns per term.
template <typename L, int rows, int64_t rowStep, int64_t termStep>
PAR_INLINE void multiplyTile(int64_t terms, const float *a, const float *b, float beta, const float *addend,
                             float *c, int64_t stride) {
  constexpr int vectors = TileShape<L>::vectors;
  constexpr int ahead = 16; // terms of B that are on their way from the second cache
  typename L::Floats sums[rows][vectors] = {};
#pragma clang loop unroll(full)
  for (int i = 0; i < rows; ++i)
    __builtin_prefetch(c + i * stride, 1);
  // Four at a time the compiler runs out of registers: sums that go through memory cost a third of the rate.
#pragma clang loop unroll_count(2)
  for (int64_t term = 0; term < terms; ++term, a += termStep, b += vectors * L::width) {
    typename L::Floats factors[vectors];
#pragma clang loop unroll(full)
    for (int j = 0; j < vectors; ++j) {
      __builtin_prefetch(b + (ahead * vectors + j) * L::width);
      load(factors[j], b + j * L::width);
    }
    addTerm<L>(a, rowStep, factors, sums);
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < rows; ++i)
#pragma clang loop unroll(full)
    for (int j = 0; j < vectors; ++j) {
      int64_t at = i * stride + j * L::width;
      if (addend) {
        typename L::Floats before;
        load(before, addend + at);
        sums[i][j] += before * beta;
      }
      store(sums[i][j], c + at);
    }
}

/// What BlockWalk.h walks with.
template <typename L>
struct FloatTile : TileShape<L> {
  template <int rows>
  PAR_INLINE static void multiply(const BlockProduct &p, const float *a, const float *b, const float *addend,
                                  float *c, int64_t stride) {
    if (p.transposedA)
      multiplyTile<L, rows, 1, TileShape<L>::wordStride>(p.words, a, b, p.beta, addend, c, stride);
    else
      multiplyTile<L, rows, mostWords, 1>(p.words, a, b, p.beta, addend, c, stride);
  }
};

} // namespace par::cpu
#endif
