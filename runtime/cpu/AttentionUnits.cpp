#include "cpu/AttentionUnits.h"

#include "cpu/AttentionPacking.h"
#include "cpu/AttentionScores.h"
#include "cpu/Bf16Panels.h"
#include "cpu/Context.h"
#include "cpu/PairedBlocks.h"
#include "cpu/ThreadMemory.h"

#include <utility>

// As AttentionForward.cpp and AttentionBackward.cpp, tile by tile. A product's terms are paired: those of
// scores along the head, those of what scores are multiplied with along keys or queries.

#define PAR_UNITS __attribute__((target("arch=x86-64-v4"), min_vector_width(512)))

namespace par::cpu {

const PanelKernels &panelKernels() {
  return usedBf16Units() == Bf16Units::tiles ? tilePanels() : dotPanels();
}

namespace {

using L = PairLanes;

/// Pairs of a tile's keys or queries.
constexpr int64_t tileWords = kTile / 2;
static_assert(kTile == qTile && kTile % panelColumns == 0 && tileWords % panelWords == 0);

/// head_dim up to whole panels.
int64_t wholeDim(const par_attention &what) {
  return (what.head_dim + panelColumns - 1) / panelColumns * panelColumns;
}

/// Up to a tile's rows of one head.
struct HeadRows {
  const uint16_t *data;
  int64_t stride, rows, dim;
};

/// Rows as the left operand, its terms along the head: where they are if whole panels are there, else a copy
/// in [kTile][whole / 2]. What is beyond the rows means nothing.
PAR_UNITS PairRows leftOf(HeadRows from, int64_t whole, float *room) {
  bool aligned = from.stride % 2 == 0 && reinterpret_cast<uintptr_t>(from.data) % 4 == 0;
  if (from.rows == kTile && from.dim == whole && aligned)
    return {reinterpret_cast<const float *>(from.data), from.stride / 2};
  for (int64_t i = 0; i < from.rows; ++i)
    pairRowOfA(from.data + i * from.stride, from.dim, whole / 2, room + i * whole / 2);
  return {room, whole / 2};
}

/// The transposed rows as the left operand, in [whole][tileWords]: terms along rows, zeros beyond them.
PAR_UNITS PairRows leftOfTransposed(HeadRows from, int64_t whole, float *room) {
  for (int64_t d = 0; d < whole; d += L::width)
    pairRowsOfTransposedA(from.data + d, from.stride, std::clamp<int64_t>(from.dim - d, 0, L::width),
                          from.rows, tileWords, room + d * tileWords, tileWords);
  return {room, tileWords};
}

/// The transposed rows as the right operand, in [whole / 2][qTile]: terms along the head, zeros beyond the
/// rows.
PAR_UNITS PairRows rightOfTransposed(HeadRows from, int64_t whole, float *room) {
  for (int64_t row = 0; row < qTile; row += pairedColumns)
    pairPanelOfTransposedB(from.data + row * from.stride, from.stride, from.rows - row, from.dim, whole / 2,
                           room + row, qTile);
  return {room, qTile};
}

/// Rows as the right operand, in [tileWords][whole]: terms along rows, zeros beyond them and beyond the head.
PAR_UNITS PairRows rightOf(HeadRows from, int64_t whole, float *room) {
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

/// A tile's numbers, times `scale`, as the right operand: pairs along keys. Zeros beyond the keys.
PAR_UNITS PairRows roundedRight(const Scores &scores, int64_t keys, float scale, float *room) {
  for (int64_t word = 0; word < tileWords; ++word)
    for (int64_t j = 0; j < qTile; j += L::width) {
      L::Floats even{}, odd{};
      if (2 * word < keys)
        load(even, scores + 2 * word * qTile + j);
      if (2 * word + 1 < keys)
        load(odd, scores + (2 * word + 1) * qTile + j);
      Bits low, high;
      roundBits(even * scale, low), roundBits(odd * scale, high);
      store(low >> 16 | (high & 0xFFFF0000u), room + word * qTile + j);
    }
  return {room, qTile};
}

/// The same as the left operand: pairs along queries. What is beyond the keys means nothing.
PAR_UNITS PairRows roundedLeft(const Scores &scores, int64_t keys, float scale, float *room) {
  for (int64_t i = 0; i < keys; ++i)
    for (int64_t j = 0; j < qTile; j += L::width) {
      L::Floats values;
      Bits bits;
      load(values, scores + i * qTile + j);
      roundBits(values * scale, bits);
      store(__builtin_convertvector(bits >> 16, L::Words),
            reinterpret_cast<char *>(room + i * tileWords) + j * 2);
    }
  return {room, tileWords};
}

/// Units compute tiles whole.
TilePart wholeOf(const Tile &tile) { return {0, qTile, 0, tile.keys}; }

/// delta of rows: Σ out dout, in f64, as it is the small difference of larger terms that counts.
PAR_UNITS void deltaOfRows(const uint16_t *out, const uint16_t *dout, int64_t stride, int64_t rows,
                           int64_t dim, float *delta) {
  using Doubles = double __attribute__((vector_size(64)));
  using Eight = uint16_t __attribute__((vector_size(16)));
  using EightBits = uint32_t __attribute__((vector_size(32)));
  using EightFloats = float __attribute__((vector_size(32)));
  auto widened = [](const uint16_t *words, int64_t count, Doubles &numbers) PAR_UNITS {
    Eight eight = {};
    __builtin_memcpy(&eight, words, size_t(std::min<int64_t>(count, 8)) * sizeof(uint16_t));
    numbers =
        __builtin_convertvector((EightFloats)(__builtin_convertvector(eight, EightBits) << 16), Doubles);
  };
  for (int64_t i = 0; i < rows; ++i) {
    Doubles sum = {}, a, b;
    for (int64_t d = 0; d < dim; d += 8) {
      widened(out + i * stride + d, dim - d, a), widened(dout + i * stride + d, dim - d, b);
      sum += a * b;
    }
    delta[i] = float(((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7])));
  }
}

/// scores = scale K Q, from what leftOf and rightOfTransposed give.
PAR_UNITS void scoresOf(const PanelKernels &kernels, PairRows keys, PairRows queries, int64_t whole,
                        float scale, Scores &scores) {
  kernels.multiply(kTile, qTile, whole / 2, keys, queries, false, {scores, qTile});
  for (int64_t i = 0; scale != 1.0f && i < kTile * qTile; i += L::width) {
    L::Floats values;
    load(values, scores + i);
    store(values * scale, scores + i);
  }
}

struct ForwardBlock : QueryBlock<uint16_t> {
  uint16_t *out;
  float *lse;
};

PAR_UNITS void forwardBlock(const ForwardBlock &block) {
  TileMemory &memory = threadMemory<TileMemory>();
  const PanelKernels &kernels = panelKernels();
  const AttentionView &a = block.attention;
  const par_attention &what = a.what;
  const int64_t dim = what.head_dim, whole = wholeDim(what), panel = whole * qTile;
  float *out = memory.panels(4, whole), *queryRoom = out + panel, *keyRoom = queryRoom + panel,
        *valueRoom = keyRoom + panel;
  const uint16_t *q = block.operands.q + block.head.inQueries(a, block.q, what.q_stride);
  PairRows queries = rightOfTransposed({q, what.q_stride, block.rows, dim}, whole, queryRoom);
  std::fill_n(out, panel, 0.0f);
  QueryPositions positions(a, block.q, block.rows);
  RunningSoftmax running;
  for (int64_t k = 0; k < what.k_rows; k += kTile) {
    Tile tile{block.q, block.rows, k, std::min(kTile, what.k_rows - k)};
    TileCover cover = coverOf(a, positions, tile);
    if (!cover.bands.count)
      continue;
    const uint16_t *keys = block.operands.k + block.head.inKeys(a, k, what.k_stride);
    const uint16_t *values = block.operands.v + block.head.inKeys(a, k, what.v_stride);
    scoresOf(kernels, leftOf({keys, what.k_stride, tile.keys, dim}, whole, keyRoom), queries, whole,
             what.scale, memory.scores);
    TilePart part = wholeOf(tile);
    if (cover.masked)
      maskPart<L>(a, tile, part, memory.scores);
    softmaxPart<L>(part, memory.scores, running, out, dim);
    if (what.dropout > 0) { // of the probabilities: the denominator counts dropped elements too
      dropoutPart(a, block.head, tile, part, memory.keep);
      dropPart<L>(part, memory.keep, memory.scores);
    }
    PairRows left = leftOfTransposed({values, what.v_stride, tile.keys, dim}, whole, valueRoom);
    PairRows right = roundedRight(memory.scores, tile.keys, 1.0f, memory.pairs[0]);
    kernels.multiply(whole, qTile, tileWords, left, right, true, {out, qTile});
  }
  finishRows<L>(running, block.rows, dim, out, block.lse + block.head.lseOffset(a) + block.q);
  float *rows = queryRoom;
  unpackTransposed<L>(out, block.rows, dim, 1.0f, rows, dim);
  uint16_t *to = block.out + block.head.inQueries(a, block.q, a.outStride());
  for (int64_t i = 0; i < block.rows; ++i)
    roundRow(rows + i * dim, to + i * a.outStride(), dim);
}

/// Rows of the whole batch, but for sums of gradients, which are those of rows from `firstRow` on.
struct BackwardBuffers {
  const uint16_t *out, *dout;
  const float *lse;
  uint16_t *dq;
  float *dk, *dv; ///< sums, of k's shape in one piece; or null
  int64_t firstRow;
};

struct BackwardBlock : QueryBlock<uint16_t> {
  const BackwardBuffers &buffers;
};

/// A block's operands and sums, and room for those of a tile.
struct BackwardPanels {
  int64_t whole;
  float *dq, *sum, *keys, *values, *transposedKeys;
  PairRows queries, dout;       ///< right, terms along the head
  PairRows queryRows, doutRows; ///< right, terms along queries
};

PAR_UNITS BackwardPanels panelsOf(const BackwardBlock &block, TileMemory &memory) {
  const AttentionView &a = block.attention;
  const par_attention &what = a.what;
  BackwardPanels panels{};
  int64_t whole = panels.whole = wholeDim(what), panel = whole * qTile;
  float *next = memory.panels(6, whole);
  auto take = [&](int64_t floats) { return std::exchange(next, next + floats); };
  panels.dq = take(panel), panels.sum = take(panel);
  panels.keys = take(panel / 2), panels.values = take(panel / 2), panels.transposedKeys = take(panel / 2);
  HeadRows q{block.operands.q + block.head.inQueries(a, block.q, what.q_stride), what.q_stride, block.rows,
             what.head_dim};
  HeadRows dout{block.buffers.dout + block.head.inQueries(a, block.q, a.outStride()), a.outStride(),
                block.rows, what.head_dim};
  panels.queries = rightOfTransposed(q, whole, take(panel / 2));
  panels.dout = rightOfTransposed(dout, whole, take(panel / 2));
  panels.queryRows = rightOf(q, whole, take(panel / 2));
  panels.doutRows = rightOf(dout, whole, take(panel / 2));
  std::fill_n(panels.dq, panel, 0.0f);
  return panels;
}

/// gradient[key][dim] += left right, for the keys of a tile.
PAR_UNITS void addKeyGradient(const PanelKernels &kernels, const BackwardPanels &panels, int64_t keys,
                              int64_t dim, PairRows left, PairRows right, float *gradient, int64_t stride) {
  if (keys == kTile && dim == panels.whole)
    return kernels.multiply(kTile, dim, tileWords, left, right, true, {gradient, stride});
  kernels.multiply(kTile, panels.whole, tileWords, left, right, false, {panels.sum, panels.whole});
  addRows<L>(panels.sum, panels.whole, keys, dim, gradient, stride);
}

PAR_UNITS void backwardTile(const BackwardBlock &block, const Tile &tile, bool masked,
                            const BackwardPanels &panels, TileMemory &memory, QueryTerms &terms) {
  const PanelKernels &kernels = panelKernels();
  const AttentionView &a = block.attention;
  const par_attention &what = a.what;
  const BackwardBuffers &buffers = block.buffers;
  const int64_t dim = what.head_dim, whole = panels.whole, width = what.kv_heads * dim;
  HeadRows keys{block.operands.k + block.head.inKeys(a, tile.k, what.k_stride), what.k_stride, tile.keys,
                dim};
  HeadRows values{block.operands.v + block.head.inKeys(a, tile.k, what.v_stride), what.v_stride, tile.keys,
                  dim};
  scoresOf(kernels, leftOf(keys, whole, panels.keys), panels.queries, whole, what.scale, memory.scores);
  scoresOf(kernels, leftOf(values, whole, panels.values), panels.dout, whole, 1.0f, memory.products);
  const TilePart part = wholeOf(tile);
  if (masked)
    maskPart<L>(a, tile, part, memory.scores);
  const float *z = nullptr;
  if (what.dropout > 0) {
    dropoutPart(a, block.head, tile, part, memory.keep);
    z = memory.keep;
  }
  if (hasAllKeys(what))
    deltaOfPart<L>(part, memory.scores, memory.products, z, terms);
  backwardScores<L>(part, memory.scores, memory.products, z, terms);
  int64_t gradient = Head{block.head.batch - buffers.firstRow, block.head.kvHead, 0}.inKeys(a, tile.k, width);
  if (buffers.dv)
    addKeyGradient(kernels, panels, tile.keys, dim,
                   roundedLeft(memory.scores, tile.keys, 1.0f, memory.pairs[0]), panels.doutRows,
                   buffers.dv + gradient, width);
  if (buffers.dk)
    addKeyGradient(kernels, panels, tile.keys, dim,
                   roundedLeft(memory.products, tile.keys, what.scale, memory.pairs[1]), panels.queryRows,
                   buffers.dk + gradient, width);
  if (buffers.dq)
    kernels.multiply(whole, qTile, tileWords, leftOfTransposed(keys, whole, panels.transposedKeys),
                     roundedRight(memory.products, tile.keys, what.scale, memory.pairs[2]), true,
                     {panels.dq, qTile});
}

PAR_UNITS void backwardBlock(const BackwardBlock &block) {
  TileMemory &memory = threadMemory<TileMemory>();
  const AttentionView &a = block.attention;
  const par_attention &what = a.what;
  const BackwardBuffers &buffers = block.buffers;
  const int64_t dim = what.head_dim;
  BackwardPanels panels = panelsOf(block, memory);
  QueryTerms terms = {};
  std::copy_n(buffers.lse + block.head.lseOffset(a) + block.q, block.rows, terms.lse);
  if (int64_t at = block.head.inQueries(a, block.q, a.outStride()); !hasAllKeys(what))
    deltaOfRows(buffers.out + at, buffers.dout + at, a.outStride(), block.rows, dim, terms.delta);
  QueryPositions positions(a, block.q, block.rows);
  for (int64_t k = 0; k < what.k_rows; k += kTile) {
    Tile tile{block.q, block.rows, k, std::min(kTile, what.k_rows - k)};
    if (TileCover cover = coverOf(a, positions, tile); cover.bands.count)
      backwardTile(block, tile, cover.masked, panels, memory, terms);
  }
  if (!buffers.dq)
    return;
  unpackTransposed<L>(panels.dq, block.rows, dim, 1.0f, panels.sum, dim);
  uint16_t *to = buffers.dq + block.head.inQueries(a, block.q, what.dq_stride);
  for (int64_t i = 0; i < block.rows; ++i)
    roundRow(panels.sum + i * dim, to + i * what.dq_stride, dim);
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

} // namespace

void attendByUnits(void *context, const par_attention &what, void *const *buffers) {
  AttentionView attention(what, buffers);
  AttentionOperands<uint16_t> operands(buffers);
  beat(context);
  runOnUnits(context, countQueryBlocks(what), [&](int64_t item) {
    forwardBlock({queryBlockAt(item, attention, operands), static_cast<uint16_t *>(buffers[9]),
                  static_cast<float *>(buffers[10])});
  });
}

void attendBackwardByUnits(void *context, const par_attention &what, void *const *buffers, float *workspace,
                           int64_t bytes) {
  AttentionView attention(what, buffers);
  AttentionOperands<uint16_t> operands(buffers);
  auto words = [&](int i) { return static_cast<uint16_t *>(buffers[i]); };
  uint16_t *const gradients[] = {words(13), words(14)};
  const int64_t strides[] = {what.dk_stride, what.dv_stride};
  const int64_t width = what.kv_heads * what.head_dim, perRow = what.k_rows * width;
  const int64_t most = std::clamp<int64_t>(bytes / (2 * perRow * int64_t(sizeof(float))), 1, what.batch);
  beat(context);
  for (int64_t row = 0, rows; row < what.batch; row += rows) {
    rows = std::min(most, what.batch - row);
    float *sums[] = {gradients[0] ? workspace : nullptr, gradients[1] ? workspace + rows * perRow : nullptr};
    BackwardBuffers all{words(9), words(11), static_cast<float *>(buffers[10]), words(12), sums[0],
                        sums[1],  row};
    // All query heads of one kv head add to the same dK and dV.
    runOnUnits(context, rows * what.kv_heads, [&](int64_t item) {
      int64_t batch = row + item / what.kv_heads, kvHead = item % what.kv_heads;
      auto forRows = [&](auto &&body) {
        for (int64_t k = 0; k < what.k_rows; ++k)
          for (int i = 0; i < 2; ++i)
            if (sums[i])
              body(sums[i] + Head{batch - row, kvHead, 0}.inKeys(attention, k, width), i, k);
      };
      forRows([&](float *sum, int, int64_t) { std::fill_n(sum, what.head_dim, 0.0f); });
      for (int64_t g = 0; g < what.group; ++g)
        for (int64_t q = 0; q < what.q_rows; q += qTile)
          backwardBlock(
              {{attention, operands, {batch, kvHead, g}, q, std::min(qTile, what.q_rows - q)}, all});
      forRows([&](float *sum, int i, int64_t k) {
        int64_t at = Head{batch, kvHead, 0}.inKeys(attention, k, strides[i]);
        roundRow(sum, gradients[i] + at, what.head_dim);
      });
    });
  }
}

} // namespace par::cpu
