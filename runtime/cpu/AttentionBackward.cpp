#include "cpu/AttentionBlock.h"
#include "cpu/AttentionPacking.h"
#include "cpu/AttentionScores.h"
#include "cpu/ThreadMemory.h"

#include <utility>

// With P = exp(S - lse) recomputed per tile, Z the dropout factors (1 without) and delta = rowsum(dout *
// out):
//   dV = (P∘Z)ᵀ dO,   dP = (dO Vᵀ)∘Z,   dS = P∘(dP - delta)·scale,   dQ = dS K,   dK = dSᵀ Q
// (Dao et al., "FlashAttention", 2022, algorithm 4; delta holds under dropout as O = (P∘Z) V). Tiles are
// transposed here, [key][query], and the scale is in Q and in what leaves dQ.

namespace par::cpu {
namespace {

struct BackwardBuffers {
  const float *out, *lse, *dout;
  float *dq, *dk, *dv;
};

struct BackwardBlock : QueryBlock<float> {
  const BackwardBuffers &buffers;
};

/// A thread's copies of a block's operands, and what is summed up.
struct BackwardPanels {
  float *queries, *queryRows, *dout, *doutRows, *dq, *sum;

  BackwardPanels(TileMemory &memory, const AttentionView &a) {
    const int64_t ofKeys = a.paddedKeys() * qTile, ofValues = a.paddedValues() * qTile;
    const int64_t ofSum = std::max(ofKeys, ofValues);
    float *next = memory.panels(3 * ofKeys + 2 * ofValues + ofSum);
    auto take = [&](int64_t floats) { return std::exchange(next, next + floats); };
    queries = take(ofKeys), queryRows = take(ofKeys), dout = take(ofValues), doutRows = take(ofValues);
    dq = take(ofKeys), sum = take(ofSum);
  }
};

/// gradient[key][dim] += scoresᵀ rows, of what a tile's keys and queries share.
template <typename L>
PAR_INLINE void addKeyGradient(const TileCover &cover, const Scores &scores, const float *rows, int64_t dim,
                               int64_t padded, float *sum, float *gradient, int64_t stride) {
  for (const TilePart &part : cover.strips) {
    LeftOperand left{scores + part.inScores(), qTile, 1};
    Rows right{const_cast<float *>(rows) + part.query * padded, padded};
    float *to = gradient + part.key * stride;
    if (dim == padded) {
      multiplyPanels<L>(part.keys, dim, part.queries, left, right, true, {to, stride});
      continue;
    }
    multiplyPanels<L>(part.keys, padded, part.queries, left, right, false, {sum, padded});
    addRows<L>(sum, padded, part.keys, dim, to, stride);
  }
}

/// P∘Z and dS of a tile, in `scores` and `products`.
template <typename L>
PAR_INLINE void backwardPart(const BackwardBlock &block, const Tile &tile, const TilePart &part, bool masked,
                             const BackwardPanels &panels, TileMemory &memory, QueryTerms &terms) {
  const AttentionCall &a = block.attention;
  const par_attention &what = a.what;
  const int64_t first = tile.k + part.key;
  const float *keys = block.operands.k + block.head.inKeys(a, first, what.k_stride);
  const float *values = block.operands.v + block.head.inValues(a, first, what.v_stride);
  multiplyPanels<L>(part.keys, part.queries, what.head_dim, {keys, what.k_stride, 1},
                    {panels.queries + part.query, qTile}, false, {memory.scores + part.inScores(), qTile});
  multiplyPanels<L>(part.keys, part.queries, what.value_dim, {values, what.v_stride, 1},
                    {panels.dout + part.query, qTile}, false, {memory.products + part.inScores(), qTile});
  gradientsOfPart<L>(a, block.head, tile, part, masked, memory, terms);
}

template <typename L>
PAR_INLINE void backwardTile(const BackwardBlock &block, const Tile &tile, const TileCover &cover,
                             const BackwardPanels &panels, TileMemory &memory, QueryTerms &terms) {
  const AttentionCall &a = block.attention;
  const par_attention &what = a.what;
  const BackwardBuffers &buffers = block.buffers;
  for (const TilePart &part : cover.bands)
    backwardPart<L>(block, tile, part, cover.masked, panels, memory, terms);
  if (buffers.dv)
    addKeyGradient<L>(cover, memory.scores, panels.doutRows, what.value_dim, a.paddedValues(), panels.sum,
                      buffers.dv + block.head.inValues(a, tile.k, what.dv_stride), what.dv_stride);
  if (buffers.dk)
    addKeyGradient<L>(cover, memory.products, panels.queryRows, what.head_dim, a.paddedKeys(), panels.sum,
                      buffers.dk + block.head.inKeys(a, tile.k, what.dk_stride), what.dk_stride);
  if (!buffers.dq)
    return;
  const float *keys = block.operands.k + block.head.inKeys(a, tile.k, what.k_stride);
  for (const TilePart &part : cover.bands)
    multiplyPanels<L>(what.head_dim, part.queries, part.keys,
                      {keys + part.key * what.k_stride, 1, what.k_stride},
                      {memory.products + part.inScores(), qTile}, true, {panels.dq + part.query, qTile});
}

/// Copies of a block's queries and of what belongs to them.
template <typename L>
PAR_INLINE void packBlock(const BackwardBlock &block, const BackwardPanels &panels, QueryTerms &terms) {
  const AttentionCall &a = block.attention;
  const par_attention &what = a.what;
  const int64_t keyDim = what.head_dim, valueDim = what.value_dim, outStride = a.outStride();
  const float *q = block.operands.q + block.head.inQueries(a, block.q, what.q_stride);
  const int64_t inOut = block.head.inOut(a, block.q);
  const float *dout = block.buffers.dout + inOut;
  prefetchRows(q, what.q_stride, block.rows, keyDim);
  prefetchRows(dout, outStride, block.rows, valueDim);
  packTransposed<L>(q, what.q_stride, block.rows, keyDim, what.scale, panels.queries);
  packRows<L>(q, what.q_stride, block.rows, keyDim, a.paddedKeys(), what.scale, panels.queryRows);
  packTransposed<L>(dout, outStride, block.rows, valueDim, 1.0f, panels.dout);
  packRows<L>(dout, outStride, block.rows, valueDim, a.paddedValues(), 1.0f, panels.doutRows);
  std::copy_n(block.buffers.lse + block.head.lseOffset(a) + block.q, block.rows, terms.lse);
  if (hasAllKeys(what))
    return;
  packTransposed<L>(block.buffers.out + inOut, outStride, block.rows, valueDim, 1.0f, panels.sum);
  deltaOfPanels<L>(panels.sum, panels.dout, valueDim, block.rows, terms.delta);
}

template <typename L>
PAR_INLINE void backwardBlock(const BackwardBlock &block) {
  TileMemory &memory = threadMemory<TileMemory>();
  const AttentionCall &a = block.attention;
  const par_attention &what = a.what;
  const int64_t dim = what.head_dim;
  BackwardPanels panels(memory, a);
  QueryTerms terms = {};
  packBlock<L>(block, panels, terms);
  std::fill_n(panels.dq, dim * qTile, 0.0f);
  for (TileWalk walk(a, block.head, block.q, block.rows); walk.next();)
    backwardTile<L>(block, walk.tile, walk.cover, panels, memory, terms);
  if (block.buffers.dq)
    unpackTransposed<L>(panels.dq, block.rows, dim, what.scale,
                        block.buffers.dq + block.head.inQueries(a, block.q, what.dq_stride), what.dq_stride);
}

PAR_LEVELS(runBlock, backwardBlock, const BackwardBlock &)

/// Zeros in `width` elements of every row.
void clear(float *gradient, int64_t rows, int64_t width, int64_t stride) {
  for (int64_t row = 0; gradient && row < rows; ++row)
    std::fill_n(gradient + row * stride, width, 0.0f);
}

} // namespace
} // namespace par::cpu

extern "C" void par_attention_backward(void *context, void *description, void *bufferList) {
  using namespace par::cpu;
  const par_attention &what = *static_cast<par_attention *>(description);
  void *const *list = static_cast<void *const *>(bufferList);
  auto floats = [&](int i) { return static_cast<float *>(list[i]); };
  AttentionCall attention(context, what, list, /*backward=*/true);
  AttentionOperands<float> operands(list);
  BackwardBuffers buffers{floats(par_attention_out), floats(par_attention_lse), floats(par_attention_dout),
                          floats(par_attention_dq),  floats(par_attention_dk),  floats(par_attention_dv)};
  int64_t keys = what.batch * what.k_rows;
  clear(buffers.dk, keys, what.kv_heads * what.head_dim, what.dk_stride);
  clear(buffers.dv, keys, what.kv_heads * what.value_dim, what.dv_stride);
  beat(context);
  // All query heads of one kv head add to the same dK and dV.
  int64_t kvHeads = what.batch * what.kv_heads;
  runItems(poolOf(context), kvHeads, [&](int64_t item) {
    for (int64_t g = 0; g < what.group; ++g)
      for (int64_t q = 0; q < what.q_rows; q += qTile)
        runBlock({{attention,
                   operands,
                   {item / what.kv_heads, item % what.kv_heads, g},
                   q,
                   std::min(qTile, what.q_rows - q)},
                  buffers});
  });
}
