#include "cpu/AttentionUnitParts.h"
#include "cpu/AttentionUnits.h"

// The algorithm is that of AttentionBackward.cpp, tile by tile.

namespace par::cpu {
namespace {

using namespace units;

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

/// Rows of the whole batch, but for sums of gradients, which are those of rows from `firstRow` on.
struct BackwardBuffers {
  const uint16_t *out, *dout;
  const float *lse;
  uint16_t *dq;
  float *dk, *dv; ///< sums, of k's and v's shapes in one piece; or null
  int64_t firstRow;
};

struct BackwardBlock : QueryBlock<uint16_t> {
  const BackwardBuffers &buffers;
};

/// A block's operands and sums, and room for those of a tile.
struct BackwardPanels {
  int64_t whole, wholeValues;
  float *dq, *sum, *keys, *values, *transposedKeys;
  PairRows queries, dout;       ///< right, terms along the head
  PairRows queryRows, doutRows; ///< right, terms along queries
};

PAR_UNITS BackwardPanels panelsOf(const BackwardBlock &block, TileMemory &memory) {
  const AttentionCall &a = block.attention;
  const par_attention &what = a.what;
  BackwardPanels panels{};
  const int64_t whole = panels.whole = wholeDim(what.head_dim);
  const int64_t wholeValues = panels.wholeValues = wholeDim(what.value_dim);
  const int64_t ofKeys = whole * qTile, ofValues = wholeValues * qTile;
  const int64_t ofSum = std::max(ofKeys, ofValues), halves = 4 * ofKeys / 2 + 3 * ofValues / 2;
  float *next = memory.panels(ofKeys + ofSum + halves);
  auto take = [&](int64_t floats) { return std::exchange(next, next + floats); };
  panels.dq = take(ofKeys), panels.sum = take(ofSum);
  panels.keys = take(ofKeys / 2), panels.values = take(ofValues / 2),
  panels.transposedKeys = take(ofKeys / 2);
  HeadRows q{block.operands.q + block.head.inQueries(a, block.q, what.q_stride), what.q_stride, block.rows,
             what.head_dim};
  HeadRows dout{block.buffers.dout + block.head.inOut(a, block.q), a.outStride(), block.rows, what.value_dim};
  panels.queries = rightOfTransposed(q, whole, take(ofKeys / 2));
  panels.dout = rightOfTransposed(dout, wholeValues, take(ofValues / 2));
  panels.queryRows = rightOf(q, whole, take(ofKeys / 2));
  panels.doutRows = rightOf(dout, wholeValues, take(ofValues / 2));
  std::fill_n(panels.dq, ofKeys, 0.0f);
  return panels;
}

/// The place at which the gradient of a tile's keys or values is summed up.
struct KeyGradient {
  int64_t dim;
  float *sums; ///< of the tile's first key; null: not computed
  int64_t stride;
  bool wholeTile; ///< as many keys as a tile has
};

/// gradient[key][dim] += a part's numbers as the left operand, rounded, times `rows`, in [tileWords][whole].
/// `room`: for a tile's keys times dim up to whole panels.
PAR_UNITS void addKeyGradient(const PanelKernels &kernels, const TilePart &part, PairRows left, PairRows rows,
                              float *room, const KeyGradient &gradient) {
  const int64_t whole = wholeDim(gradient.dim), words = wholeWords(part.queries);
  const PairRows right{rows.words + part.query / 2 * rows.stride, rows.stride};
  float *to = gradient.sums + part.key * gradient.stride;
  if (gradient.wholeTile && gradient.dim == whole)
    return kernels.multiply(part.keys, whole, words, left, right, true, {to, gradient.stride});
  kernels.multiply(wholeRows(part.keys), whole, words, left, right, false, {room, whole});
  addRows<L>(room, whole, part.keys, gradient.dim, to, gradient.stride);
}

/// P∘Z and dS of a part, in `scores` and `products`. `keys` and `values`: the tile's, as left operands.
PAR_UNITS void backwardPart(const BackwardBlock &block, const Tile &tile, const TilePart &part, bool masked,
                            PairRows keys, PairRows values, const BackwardPanels &panels, TileMemory &memory,
                            QueryTerms &terms) {
  const PanelKernels &kernels = panelKernels();
  const AttentionCall &a = block.attention;
  const par_attention &what = a.what;
  scoresOf(kernels, part, keys, panels.queries, panels.whole, what.scale, memory.scores);
  scoresOf(kernels, part, values, panels.dout, panels.wholeValues, 1.0f, memory.products);
  gradientsOfPart<L>(a, block.head, tile, part, masked, memory, terms);
}

PAR_UNITS void backwardTile(const BackwardBlock &block, const Tile &tile, const TileCover &cover,
                            const BackwardPanels &panels, TileMemory &memory, QueryTerms &terms) {
  const PanelKernels &kernels = panelKernels();
  const AttentionCall &a = block.attention;
  const par_attention &what = a.what;
  const BackwardBuffers &buffers = block.buffers;
  const int64_t dim = what.head_dim, valueDim = what.value_dim;
  HeadRows keys{block.operands.k + block.head.inKeys(a, tile.k, what.k_stride), what.k_stride, tile.keys,
                dim};
  HeadRows values{block.operands.v + block.head.inValues(a, tile.k, what.v_stride), what.v_stride, tile.keys,
                  valueDim};
  PairRows leftKeys = leftOf(keys, panels.whole, panels.keys);
  PairRows leftValues = leftOf(values, panels.wholeValues, panels.values);
  for (const TilePart &part : cover.bands)
    backwardPart(block, tile, part, cover.masked, leftKeys, leftValues, panels, memory, terms);
  const Head ofSums{block.head.batch - buffers.firstRow, block.head.kvHead, 0};
  const int64_t ofKeys = what.kv_heads * dim, ofValues = what.kv_heads * valueDim;
  const bool wholeTile = tile.keys == kTile;
  KeyGradient dv{valueDim, nullptr, ofValues, wholeTile}, dk{dim, nullptr, ofKeys, wholeTile};
  if (buffers.dv)
    dv.sums = buffers.dv + ofSums.inValues(a, tile.k, ofValues);
  if (buffers.dk)
    dk.sums = buffers.dk + ofSums.inKeys(a, tile.k, ofKeys);
  for (TilePart part : cover.strips) {
    part.queries = 2 * wholeWords(part.queries); // beyond the block's rows those of dout and q are 0
    if (dv.sums)
      addKeyGradient(kernels, part, roundedLeft(memory.scores, part, 1.0f, memory.pairs[0]), panels.doutRows,
                     panels.sum, dv);
    if (dk.sums)
      addKeyGradient(kernels, part, roundedLeft(memory.products, part, what.scale, memory.pairs[1]),
                     panels.queryRows, panels.sum, dk);
  }
  if (!buffers.dq)
    return;
  PairRows transposed = leftOfTransposed(keys, panels.whole, panels.transposedKeys);
  for (const TilePart &part : cover.bands)
    addProduct(kernels, part, panels.whole, transposed,
               roundedRight(memory.products, part, what.scale, memory.pairs[2]), panels.dq);
}

PAR_UNITS void backwardBlock(const BackwardBlock &block) {
  TileMemory &memory = threadMemory<TileMemory>();
  const AttentionCall &a = block.attention;
  const par_attention &what = a.what;
  const BackwardBuffers &buffers = block.buffers;
  const int64_t dim = what.head_dim;
  BackwardPanels panels = panelsOf(block, memory);
  QueryTerms terms = {};
  std::copy_n(buffers.lse + block.head.lseOffset(a) + block.q, block.rows, terms.lse);
  if (int64_t at = block.head.inOut(a, block.q); !hasAllKeys(what))
    deltaOfRows(buffers.out + at, buffers.dout + at, a.outStride(), block.rows, what.value_dim, terms.delta);
  for (TileWalk walk(a, block.head, block.q, block.rows); walk.next();)
    backwardTile(block, walk.tile, walk.cover, panels, memory, terms);
  if (!buffers.dq)
    return;
  unpackTransposed<L>(panels.dq, block.rows, dim, 1.0f, panels.sum, dim);
  uint16_t *to = buffers.dq + block.head.inQueries(a, block.q, what.dq_stride);
  for (int64_t i = 0; i < block.rows; ++i)
    roundRow(panels.sum + i * dim, to + i * what.dq_stride, dim);
}

/// Sums of the gradients of keys or values, for some rows of the batch.
struct KeySums {
  float *sums;                      ///< of those rows, in one piece; null: not computed
  uint16_t *gradient;               ///< of the whole batch
  int64_t keys, dim, width, stride; ///< width: between rows of sums, stride: of the gradient

  /// body(sum, gradient) for each key of a head, `row` of those that are summed up and `batch` of all.
  template <typename Body>
  void forEachKey(int64_t row, int64_t batch, int64_t kvHead, Body &&body) const {
    for (int64_t k = 0; sums && k < keys; ++k)
      body(sums + (row * keys + k) * width + kvHead * dim,
           gradient + (batch * keys + k) * stride + kvHead * dim);
  }
};

} // namespace

void attendBackwardByUnits(void *context, const par_attention &what, void *const *buffers, float *workspace,
                           int64_t bytes) {
  AttentionCall attention(context, what, buffers, /*backward=*/true);
  AttentionOperands<uint16_t> operands(buffers);
  auto words = [&](int i) { return static_cast<uint16_t *>(buffers[i]); };
  uint16_t *dk = words(par_attention_dk), *dv = words(par_attention_dv);
  const int64_t ofKeys = what.kv_heads * what.head_dim, ofValues = what.kv_heads * what.value_dim;
  const int64_t perRow = what.k_rows * (ofKeys + ofValues) * int64_t(sizeof(float));
  const int64_t most = std::clamp<int64_t>(bytes / perRow, 1, what.batch);
  beat(context);
  for (int64_t row = 0, rows; row < what.batch; row += rows) {
    rows = std::min(most, what.batch - row);
    const KeySums sums[] = {
        {dk ? workspace : nullptr, dk, what.k_rows, what.head_dim, ofKeys, what.dk_stride},
        {dv ? workspace + rows * what.k_rows * ofKeys : nullptr, dv, what.k_rows, what.value_dim, ofValues,
         what.dv_stride}};
    BackwardBuffers all{words(par_attention_out),
                        words(par_attention_dout),
                        static_cast<float *>(buffers[par_attention_lse]),
                        words(par_attention_dq),
                        sums[0].sums,
                        sums[1].sums,
                        row};
    // All query heads of one kv head add to the same dK and dV.
    runOnUnits(context, rows * what.kv_heads, [&](int64_t item) {
      int64_t ofRows = item / what.kv_heads, batch = row + ofRows, kvHead = item % what.kv_heads;
      for (const KeySums &each : sums)
        each.forEachKey(ofRows, batch, kvHead,
                        [&](float *sum, uint16_t *) { std::fill_n(sum, each.dim, 0.0f); });
      for (int64_t g = 0; g < what.group; ++g)
        for (int64_t q = 0; q < what.q_rows; q += qTile)
          backwardBlock(
              {{attention, operands, {batch, kvHead, g}, q, std::min(qTile, what.q_rows - q)}, all});
      for (const KeySums &each : sums)
        each.forEachKey(ofRows, batch, kvHead,
                        [&](float *sum, uint16_t *gradient) { roundRow(sum, gradient, each.dim); });
    });
  }
}

} // namespace par::cpu
