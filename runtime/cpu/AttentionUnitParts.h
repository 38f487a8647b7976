/// Attention by bf16 units has these parts in both directions: a tile's operands and scores as pairs of bf16
/// numbers. A product's terms are paired: those of scores along the head, those of what scores are multiplied
/// with along keys or queries.
#ifndef PAR_CPU_ATTENTIONUNITPARTS_H
#define PAR_CPU_ATTENTIONUNITPARTS_H

#include "cpu/AttentionBlock.h"
#include "cpu/AttentionPacking.h"
#include "cpu/AttentionScores.h"
#include "cpu/Bf16Panels.h"
#include "cpu/PairedBlocks.h"
#include "cpu/ThreadMemory.h"

#include <utility>

#define PAR_UNITS __attribute__((target("arch=x86-64-v4"), min_vector_width(512)))

namespace par::cpu::units {

using L = PairLanes;

/// Pairs of a tile's keys or queries.
constexpr int64_t tileWords = kTile / 2;
static_assert(kTile == qTile && kTile % panelColumns == 0 && tileWords % panelWords == 0);

/// A head's size up to whole panels.
inline int64_t wholeDim(int64_t dim) { return (dim + panelColumns - 1) / panelColumns * panelColumns; }

/// Up to a tile's rows of one head.
struct HeadRows {
  const uint16_t *data;
  int64_t stride, rows, dim;
};

/// Rows as the left operand, its terms along the head: where they are if whole panels are there, else a copy
/// in [kTile][whole / 2]. What is beyond the rows means nothing.
PAR_UNITS inline PairRows leftOf(HeadRows from, int64_t whole, float *room) {
  bool aligned = from.stride % 2 == 0 && reinterpret_cast<uintptr_t>(from.data) % 4 == 0;
  if (from.rows == kTile && from.dim == whole && aligned)
    return {reinterpret_cast<const float *>(from.data), from.stride / 2};
  for (int64_t i = 0; i < from.rows; ++i)
    pairRowOfA(from.data + i * from.stride, from.dim, whole / 2, room + i * whole / 2);
  return {room, whole / 2};
}

/// The transposed rows as the left operand, in [whole][tileWords]: terms along rows, zeros beyond them.
PAR_UNITS inline PairRows leftOfTransposed(HeadRows from, int64_t whole, float *room) {
  for (int64_t d = 0; d < whole; d += L::width)
    pairRowsOfTransposedA(from.data + d, from.stride, std::clamp<int64_t>(from.dim - d, 0, L::width),
                          from.rows, tileWords, room + d * tileWords, tileWords);
  return {room, tileWords};
}

/// The transposed rows as the right operand, in [whole / 2][qTile]: terms along the head, zeros beyond the
/// rows.
PAR_UNITS inline PairRows rightOfTransposed(HeadRows from, int64_t whole, float *room) {
  for (int64_t row = 0; row < qTile; row += pairedColumns)
    pairPanelOfTransposedB(from.data + row * from.stride, from.stride, from.rows - row, from.dim, whole / 2,
                           room + row, qTile);
  return {room, qTile};
}

/// Rows as the right operand, in [tileWords][whole]: terms along rows, zeros beyond them and beyond the head.
PAR_UNITS inline PairRows rightOf(HeadRows from, int64_t whole, float *room) {
  for (int64_t word = 0; word < tileWords; ++word)
    for (int64_t d = 0; d < whole; d += L::width) {
      int64_t count = 2 * word < from.rows ? std::clamp<int64_t>(from.dim - d, 0, L::width) : 0;
      const uint16_t *first = from.data + 2 * word * from.stride + d;
      pairRows(first, 2 * word + 1 < from.rows ? first + from.stride : nullptr, count,
               room + word * whole + d);
    }
  return {room, whole};
}

using Bits = uint32_t __attribute__((vector_size(64)));

/// The upper halves of the bits are bf16 numbers: to nearest, ties to even, a NaN stays one.
PAR_INLINE void roundBits(const L::Floats &values, Bits &bits) {
  bits = (Bits)values;
  Bits rounded = bits + 0x7FFF + (bits >> 16 & 1);
  bits = values != values ? bits | 0x400000 : rounded;
}

/// Rows, or pairs of terms, that units compute for `count` of them: of a part no more than its strips have.
constexpr int64_t wholeRows(int64_t count) { return (count + panelRows - 1) / panelRows * panelRows; }
constexpr int64_t wholeWords(int64_t terms) {
  return (terms / 2 + panelWords - 1 + terms % 2) / panelWords * panelWords;
}
static_assert(bandWidth % panelRows == 0 && bandWidth % panelColumns == 0 &&
              bandWidth % (2 * panelWords) == 0);

/// A part's numbers, times `scale`, as the right operand: pairs along keys. Zeros beyond the keys. `room`: of
/// a tile.
PAR_UNITS inline PairRows roundedRight(const Scores &scores, const TilePart &part, float scale, float *room) {
  const int64_t first = part.key / 2, end = part.key + part.keys;
  for (int64_t word = first; word < first + wholeWords(part.keys); ++word)
    for (int64_t j = part.query; j < part.query + part.queries; j += L::width) {
      L::Floats even{}, odd{};
      if (2 * word < end)
        load(even, scores + 2 * word * qTile + j);
      if (2 * word + 1 < end)
        load(odd, scores + (2 * word + 1) * qTile + j);
      Bits low, high;
      roundBits(even * scale, low), roundBits(odd * scale, high);
      store(low >> 16 | (high & 0xFFFF0000u), room + word * qTile + j);
    }
  return {room + first * qTile + part.query, qTile};
}

/// Rounds scores to the left operand: pairs along queries. Rows beyond the keys mean nothing.
PAR_UNITS inline PairRows roundedLeft(const Scores &scores, const TilePart &part, float scale, float *room) {
  for (int64_t i = part.key; i < part.key + part.keys; ++i)
    for (int64_t j = part.query; j < part.query + part.queries; j += L::width) {
      L::Floats values;
      Bits bits;
      load(values, scores + i * qTile + j);
      roundBits(values * scale, bits);
      store(__builtin_convertvector(bits >> 16, L::Words),
            reinterpret_cast<char *>(room + i * tileWords) + j * 2);
    }
  return {room + part.key * tileWords + part.query / 2, tileWords};
}

/// scores = scale K Q of a part, from what leftOf and rightOfTransposed give.
PAR_UNITS inline void scoresOf(const PanelKernels &kernels, const TilePart &part, PairRows keys,
                               PairRows queries, int64_t whole, float scale, Scores &scores) {
  kernels.multiply(wholeRows(part.keys), part.queries, whole / 2,
                   {keys.words + part.key * keys.stride, keys.stride},
                   {queries.words + part.query, queries.stride}, false, {scores + part.inScores(), qTile});
  for (int64_t i = part.key; scale != 1.0f && i < part.key + part.keys; ++i)
    for (int64_t j = part.query; j < part.query + part.queries; j += L::width) {
      L::Floats values;
      load(values, scores + i * qTile + j);
      store(values * scale, scores + i * qTile + j);
    }
}

/// to [whole][qTile] += left [whole][keys] times a part's numbers as the right operand, rounded.
PAR_UNITS inline void addProduct(const PanelKernels &kernels, const TilePart &part, int64_t whole,
                                 PairRows left, PairRows right, float *to) {
  kernels.multiply(whole, part.queries, wholeWords(part.keys), {left.words + part.key / 2, left.stride},
                   right, true, {to + part.query, qTile});
}

/// Units are set up for each item, as other work of a thread may come between.
template <typename Item>
void runOnUnits(void *context, int64_t count, Item &&item) {
  const PanelKernels &kernels = panelKernels();
  runItems(poolOf(context), count, [&](int64_t i) {
    kernels.enter();
    item(i);
    kernels.leave();
  });
}

} // namespace par::cpu::units
#endif
