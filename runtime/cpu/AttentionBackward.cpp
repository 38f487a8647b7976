#include "cpu/AttentionScores.h"
#include "cpu/Context.h"
#include "cpu/ThreadMemory.h"

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

/// A thread's copies of a block's operands, of its queries, and what is summed up.
struct BackwardPanels {
  float *queries, *queryRows, *dout, *doutRows, *dq, *sum;

  BackwardPanels(float *memory, int64_t dim) {
    for (float **panel : {&queries, &queryRows, &dout, &doutRows, &dq, &sum}) {
      *panel = memory;
      memory += dim * qTile;
    }
  }
};

/// gradient[key][dim] += tileᵀ rows, for the keys of a tile.
template <typename L>
PAR_INLINE void addKeyGradient(const Tile &tile, const Scores &scores, const float *rows, int64_t dim,
                               int64_t padded, float *sum, float *gradient, int64_t stride) {
  LeftOperand left{scores, qTile, 1};
  Rows right{const_cast<float *>(rows), padded};
  if (dim == padded)
    return multiplyPanels<L>(tile.keys, dim, tile.rows, left, right, true, {gradient, stride});
  multiplyPanels<L>(tile.keys, padded, tile.rows, left, right, false, {sum, padded});
  addRows(sum, padded, tile.keys, dim, gradient, stride);
}

template <typename L>
PAR_INLINE void backwardTile(const BackwardBlock &block, const Tile &tile, Visibility visibility,
                             const BackwardPanels &panels, TileMemory &memory, QueryTerms &terms) {
  Scores &scores = memory.scores, &products = memory.products, &keep = memory.keep;
  const AttentionView &a = block.attention;
  const par_attention &what = a.what;
  const BackwardBuffers &buffers = block.buffers;
  const int64_t dim = what.head_dim, padded = a.paddedDim();
  const float *keys = block.operands.k + block.head.inKeys(a, tile.k, what.k_stride);
  const float *values = block.operands.v + block.head.inKeys(a, tile.k, what.v_stride);
  productTile<L>(keys, what.k_stride, dim, panels.queries, tile, scores);
  productTile<L>(values, what.v_stride, dim, panels.dout, tile, products);
  if (visibility == Visibility::some)
    maskTile(a, tile, scores);
  const float *z = nullptr;
  if (what.dropout > 0) {
    dropoutTile(a, block.head, tile, keep);
    z = keep;
  }
  if (hasAllKeys(what))
    deltaOfTile<L>(tile.keys, scores, products, z, terms);
  backwardScores<L>(tile.keys, scores, products, z, terms);
  if (buffers.dv)
    addKeyGradient<L>(tile, scores, panels.doutRows, dim, padded, panels.sum,
                      buffers.dv + block.head.inKeys(a, tile.k, what.dv_stride), what.dv_stride);
  if (buffers.dk)
    addKeyGradient<L>(tile, products, panels.queryRows, dim, padded, panels.sum,
                      buffers.dk + block.head.inKeys(a, tile.k, what.dk_stride), what.dk_stride);
  if (buffers.dq)
    multiplyPanels<L>(dim, qTile, tile.keys, {keys, 1, what.k_stride}, {products, qTile}, true,
                      {panels.dq, qTile});
}

template <typename L>
PAR_INLINE void backwardBlock(const BackwardBlock &block) {
  TileMemory &memory = threadMemory<TileMemory>();
  const AttentionView &a = block.attention;
  const par_attention &what = a.what;
  const BackwardBuffers &buffers = block.buffers;
  const int64_t dim = what.head_dim, padded = a.paddedDim(), outStride = a.outStride();
  BackwardPanels panels(memory.panels(6, padded), padded);
  const float *q = block.operands.q + block.head.inQueries(a, block.q, what.q_stride);
  const float *dout = buffers.dout + block.head.inQueries(a, block.q, outStride);
  prefetchRows(q, what.q_stride, block.rows, dim);
  prefetchRows(dout, outStride, block.rows, dim);
  packTransposed(q, what.q_stride, block.rows, dim, what.scale, panels.queries);
  packRows(q, what.q_stride, block.rows, dim, padded, what.scale, panels.queryRows);
  packTransposed(dout, outStride, block.rows, dim, 1.0f, panels.dout);
  packRows(dout, outStride, block.rows, dim, padded, 1.0f, panels.doutRows);
  std::fill_n(panels.dq, dim * qTile, 0.0f);
  QueryTerms terms = {};
  std::copy_n(buffers.lse + block.head.lseOffset(a) + block.q, block.rows, terms.lse);
  if (!hasAllKeys(what))
    deltaOfRows(buffers.out + block.head.inQueries(a, block.q, outStride), dout, outStride, block.rows, dim,
                terms.delta);
  for (int64_t k = 0; k < what.k_rows; k += kTile) {
    Tile tile{block.q, block.rows, k, std::min(kTile, what.k_rows - k)};
    Visibility visibility = visibilityOf(a, tile);
    if (visibility != Visibility::none)
      backwardTile<L>(block, tile, visibility, panels, memory, terms);
  }
  if (buffers.dq)
    unpackTransposed(panels.dq, block.rows, dim, what.scale,
                     buffers.dq + block.head.inQueries(a, block.q, what.dq_stride), what.dq_stride);
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
  AttentionView attention(what, list);
  AttentionOperands<float> operands(list);
  BackwardBuffers buffers{floats(9), floats(10), floats(11), floats(12), floats(13), floats(14)};
  int64_t keys = what.batch * what.k_rows, width = what.kv_heads * what.head_dim;
  clear(buffers.dk, keys, width, what.dk_stride);
  clear(buffers.dv, keys, width, what.dv_stride);
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
