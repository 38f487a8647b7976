#include "cpu/AttentionScores.h"
#include "cpu/Context.h"
#include "cpu/ThreadMemory.h"

// Dao et al., "FlashAttention", 2022, algorithm 1, with the accumulator kept unnormalised (FlashAttention-2,
// 2023): per query row the running maximum m, the running denominator l and the output so far.

namespace par::cpu {
namespace {

struct ForwardBlock : QueryBlock<float> {
  float *out, *lse;
};

template <typename L>
PAR_INLINE void forwardBlock(const ForwardBlock &block) {
  TileMemory &memory = threadMemory<TileMemory>();
  Scores &scores = memory.scores, &keep = memory.keep;
  const AttentionView &a = block.attention;
  const par_attention &what = a.what;
  const int64_t dim = what.head_dim, padded = a.paddedDim();
  float *queries = memory.panels(2, padded), *out = queries + padded * qTile;
  const int64_t outStride = a.outStride();
  const float *q = block.operands.q + block.head.inQueries(a, block.q, what.q_stride);
  float *to = block.out + block.head.inQueries(a, block.q, outStride);
  // Rows lie far apart: the processor does not see which come next.
  prefetchRows(q, what.q_stride, block.rows, dim);
  packTransposed(q, what.q_stride, block.rows, dim, what.scale, queries);
  prefetchRows(to, outStride, block.rows, dim);
  std::fill_n(out, dim * qTile, 0.0f);
  RunningSoftmax running;
  for (int64_t k = 0; k < what.k_rows; k += kTile) {
    Tile tile{block.q, block.rows, k, std::min(kTile, what.k_rows - k)};
    Visibility visibility = visibilityOf(a, tile);
    if (visibility == Visibility::none)
      continue;
    productTile<L>(block.operands.k + block.head.inKeys(a, k, what.k_stride), what.k_stride, dim, queries,
                   tile, scores);
    if (visibility == Visibility::some)
      maskTile(a, tile, scores);
    for (int64_t j = 0; j < qTile; j += 4 * L::width)
      softmaxColumns<L>(j, tile.keys, scores, running, out, dim);
    if (what.dropout > 0) { // of the probabilities: the denominator counts dropped elements too
      dropoutTile(a, block.head, tile, keep);
      for (int64_t i = 0; i < tile.keys * qTile; ++i)
        scores[i] *= keep[i];
    }
    multiplyPanels<L>(dim, qTile, tile.keys,
                      {block.operands.v + block.head.inKeys(a, k, what.v_stride), 1, what.v_stride},
                      {scores, qTile}, true, {out, qTile});
  }
  finishRows(running, block.rows, dim, out, block.lse + block.head.lseOffset(a) + block.q);
  unpackTransposed(out, block.rows, dim, 1.0f, to, outStride);
}

PAR_LEVELS(runBlock, forwardBlock, const ForwardBlock &)

} // namespace
} // namespace par::cpu

extern "C" void par_attention_forward(void *context, void *description, void *bufferList) {
  using namespace par::cpu;
  const par_attention &what = *static_cast<par_attention *>(description);
  void *const *buffers = static_cast<void *const *>(bufferList);
  AttentionView attention(what, buffers);
  AttentionOperands<float> operands(buffers);
  beat(context);
  runItems(poolOf(context), countQueryBlocks(what), [&](int64_t item) {
    runBlock({queryBlockAt(item, attention, operands), static_cast<float *>(buffers[9]),
              static_cast<float *>(buffers[10])});
  });
}
