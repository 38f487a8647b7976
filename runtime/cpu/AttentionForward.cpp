#include "cpu/AttentionPacking.h"
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

/// A thread's copies of a block's queries, and what is summed up.
struct ForwardPanels {
  float *queries, *out;

  ForwardPanels(TileMemory &memory, int64_t padded)
      : queries(memory.panels(2, padded)), out(queries + padded * qTile) {}
};

template <typename L>
PAR_INLINE void forwardTile(const ForwardBlock &block, const Tile &tile, const TileCover &cover,
                            const ForwardPanels &panels, TileMemory &memory, RunningSoftmax &running) {
  Scores &scores = memory.scores, &keep = memory.keep;
  const AttentionView &a = block.attention;
  const par_attention &what = a.what;
  const int64_t dim = what.head_dim;
  const float *keys = block.operands.k + block.head.inKeys(a, tile.k, what.k_stride);
  const float *values = block.operands.v + block.head.inKeys(a, tile.k, what.v_stride);
  for (const TilePart &part : cover.bands) {
    multiplyPanels<L>(part.keys, part.queries, dim, {keys + part.key * what.k_stride, what.k_stride, 1},
                      {panels.queries + part.query, qTile}, false, {scores + part.inScores(), qTile});
    if (cover.masked)
      maskPart<L>(a, tile, part, scores);
    softmaxPart<L>(part, scores, running, panels.out, dim);
    if (what.dropout > 0) { // of the probabilities: the denominator counts dropped elements too
      dropoutPart(a, block.head, tile, part, keep);
      dropPart<L>(part, keep, scores);
    }
    multiplyPanels<L>(dim, part.queries, part.keys, {values + part.key * what.v_stride, 1, what.v_stride},
                      {scores + part.inScores(), qTile}, true, {panels.out + part.query, qTile});
  }
}

template <typename L>
PAR_INLINE void forwardBlock(const ForwardBlock &block) {
  TileMemory &memory = threadMemory<TileMemory>();
  const AttentionView &a = block.attention;
  const par_attention &what = a.what;
  const int64_t dim = what.head_dim, outStride = a.outStride();
  ForwardPanels panels(memory, a.paddedDim());
  const float *q = block.operands.q + block.head.inQueries(a, block.q, what.q_stride);
  float *to = block.out + block.head.inQueries(a, block.q, outStride);
  // Rows lie far apart: the processor does not see which come next.
  prefetchRows(q, what.q_stride, block.rows, dim);
  packTransposed<L>(q, what.q_stride, block.rows, dim, what.scale, panels.queries);
  prefetchRows(to, outStride, block.rows, dim);
  std::fill_n(panels.out, dim * qTile, 0.0f);
  QueryPositions positions(a, block.q, block.rows);
  RunningSoftmax running;
  for (int64_t k = 0; k < what.k_rows; k += kTile) {
    Tile tile{block.q, block.rows, k, std::min(kTile, what.k_rows - k)};
    if (TileCover cover = coverOf(a, positions, tile); cover.bands.count)
      forwardTile<L>(block, tile, cover, panels, memory, running);
  }
  finishRows<L>(running, block.rows, dim, panels.out, block.lse + block.head.lseOffset(a) + block.q);
  unpackTransposed<L>(panels.out, block.rows, dim, 1.0f, to, outStride);
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
