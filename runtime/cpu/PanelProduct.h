/// Products of tiles that lie in the first caches, for attention: without packing and without a call, unlike
/// those of a library, and with operands in any order.
#ifndef PAR_CPU_PANELPRODUCT_H
#define PAR_CPU_PANELPRODUCT_H

#include "cpu/Lanes.h"

namespace par::cpu {

/// The left operand: element (row, term) is at data[row * rowStride + term * termStride].
struct LeftOperand {
  const float *data;
  int64_t rowStride, termStride;
};

/// Rows of floats; `stride` elements between two.
struct Rows {
  float *data;
  int64_t stride;
};

/// sums += one term of a product: a column of A, whose rows are `rowStride` apart, times a row of B.
template <typename L, int rows, int vectors>
PAR_INLINE void addTerm(const float *left, int64_t rowStride, const typename L::Floats (&factors)[vectors],
                        typename L::Floats (&sums)[rows][vectors]) {
#pragma clang loop unroll(full)
  for (int i = 0; i < rows; ++i) {
    float factor = left[i * rowStride];
#pragma clang loop unroll(full)
    for (int j = 0; j < vectors; ++j)
      sums[i][j] += factors[j] * factor;
  }
}

/// How far ahead the left operand is fetched where its terms are far apart.
constexpr int64_t termsAhead = 4;

/// C[rows, vectors * L::width] = (add ? C : 0) + A B, held in registers.
template <typename L, int rows, int vectors>
PAR_INLINE void multiplyRegisters(int64_t terms, LeftOperand a, Rows b, bool add, Rows c) {
  typename L::Floats sums[rows][vectors] = {};
  const float *left = a.data, *right = b.data;
  // Rows or terms far apart share few sets of the first cache, and wait there for each other: so a line per
  // term is fetched, of a later term, or else in turns those of the next rows. Beyond the last it does no
  // harm.
  const bool isAlongRows = a.termStride == 1;
  const int64_t ahead = isAlongRows ? rows * a.rowStride : termsAhead * a.termStride;
  const int64_t rowStep = isAlongRows ? a.rowStride : 0;
  for (int64_t term = 0; term < terms; ++term, left += a.termStride, right += b.stride) {
    typename L::Floats factors[vectors];
    __builtin_prefetch(left + ahead + (term & 7) * rowStep);
#pragma clang loop unroll(full)
    for (int j = 0; j < vectors; ++j)
      load(factors[j], right + j * L::width);
    addTerm<L>(left, a.rowStride, factors, sums);
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < rows; ++i)
#pragma clang loop unroll(full)
    for (int j = 0; j < vectors; ++j) {
      float *to = c.data + i * c.stride + j * L::width;
      if (add) {
        typename L::Floats before;
        load(before, to);
        sums[i][j] += before;
      }
      store(sums[i][j], to);
    }
}

template <typename L, int rows, int vectors>
PAR_INLINE void multiplyRowsBy(int64_t &row, int64_t end, int64_t terms, LeftOperand a, Rows b, bool add,
                               Rows c) {
  for (; row + rows <= end; row += rows)
    multiplyRegisters<L, rows, vectors>(terms, {a.data + row * a.rowStride, a.rowStride, a.termStride}, b,
                                        add, {c.data + row * c.stride, c.stride});
}

/// All rows of C in some columns.
template <typename L, int vectors>
PAR_INLINE void multiplyColumns(int64_t rows, int64_t terms, LeftOperand a, Rows b, bool add, Rows c) {
  // Sums, factors and the one on the left fill the registers.
  constexpr int most = (L::registers - vectors - 1) / vectors;
  constexpr int step = most > 12 ? 12 : most;
  int64_t row = 0;
  multiplyRowsBy<L, step, vectors>(row, rows, terms, a, b, add, c);
  multiplyRowsBy<L, 4, vectors>(row, rows, terms, a, b, add, c);
  multiplyRowsBy<L, 1, vectors>(row, rows, terms, a, b, add, c);
}

/// C[rows, columns] = (add ? C : 0) + A[rows, terms] B[terms, columns]; columns is a multiple of 16.
template <typename L>
PAR_INLINE void multiplyPanels(int64_t rows, int64_t columns, int64_t terms, LeftOperand a, Rows b, bool add,
                               Rows c) {
  constexpr int wide = L::registers == 32 ? 4 : 2;
  int64_t column = 0;
  for (; column + wide * L::width <= columns; column += wide * L::width)
    multiplyColumns<L, wide>(rows, terms, a, {b.data + column, b.stride}, add, {c.data + column, c.stride});
  for (; wide > 2 && column + 2 * L::width <= columns; column += 2 * L::width)
    multiplyColumns<L, 2>(rows, terms, a, {b.data + column, b.stride}, add, {c.data + column, c.stride});
  for (; column < columns; column += L::width)
    multiplyColumns<L, 1>(rows, terms, a, {b.data + column, b.stride}, add, {c.data + column, c.stride});
}

} // namespace par::cpu
#endif
