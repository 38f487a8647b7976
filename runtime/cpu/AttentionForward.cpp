#include "cpu/AttentionBlock.h"
#include "cpu/AttentionPacking.h"
#include "cpu/AttentionScores.h"
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

  ForwardPanels(TileMemory &memory, const AttentionView &a)
      : queries(memory.panels((a.paddedKeys() + a.paddedValues()) * qTile)),
        out(queries + a.paddedKeys() * qTile) {}
};

template <typename L>
PAR_INLINE void forwardTile(const ForwardBlock &block, const Tile &tile, const TileCover &cover,
                            const ForwardPanels &panels, TileMemory &memory, RunningSoftmax &running) {
  Scores &scores = memory.scores, &keep = memory.keep;
  const AttentionCall &a = block.attention;
  const par_attention &what = a.what;
  const float *keys = block.operands.k + block.head.inKeys(a, tile.k, what.k_stride);
  const float *values = block.operands.v + block.head.inValues(a, tile.k, what.v_stride);
  for (const TilePart &part : cover.bands) {
    multiplyPanels<L>(part.keys, part.queries, what.head_dim,
                      {keys + part.key * what.k_stride, what.k_stride, 1},
                      {panels.queries + part.query, qTile}, false, {scores + part.inScores(), qTile});
    finishScores<L>(a, block.head.batch, tile, part, cover.masked, scores);
    softmaxPart<L>(part, scores, running, panels.out, what.value_dim);
    if (what.dropout > 0) { // of the probabilities: the denominator counts dropped elements too
      dropoutPart(a, block.head, tile, part, keep);
      dropPart<L>(part, keep, scores);
    }
    multiplyPanels<L>(what.value_dim, part.queries, part.keys,
                      {values + part.key * what.v_stride, 1, what.v_stride},
                      {scores + part.inScores(), qTile}, true, {panels.out + part.query, qTile});
  }
}

template <typename L>
PAR_INLINE void forwardBlock(const ForwardBlock &block) {
  TileMemory &memory = threadMemory<TileMemory>();
  const AttentionCall &a = block.attention;
  const par_attention &what = a.what;
  const int64_t keyDim = what.head_dim, valueDim = what.value_dim, outStride = a.outStride();
  ForwardPanels panels(memory, a);
  const float *q = block.operands.q + block.head.inQueries(a, block.q, what.q_stride);
  float *to = block.out + block.head.inOut(a, block.q);
  // Rows lie far apart: the processor does not see which come next.
  prefetchRows(q, what.q_stride, block.rows, keyDim);
  packTransposed<L>(q, what.q_stride, block.rows, keyDim, what.scale, panels.queries);
  prefetchRows(to, outStride, block.rows, valueDim);
  std::fill_n(panels.out, valueDim * qTile, 0.0f);
  RunningSoftmax running(a.sinkOf(block.head.kvHead, block.head.group));
  for (TileWalk walk(a, block.head, block.q, block.rows); walk.next();)
    forwardTile<L>(block, walk.tile, walk.cover, panels, memory, running);
  finishRows<L>(running, block.rows, valueDim, panels.out, block.lse + block.head.lseOffset(a) + block.q);
  unpackTransposed<L>(panels.out, block.rows, valueDim, 1.0f, to, outStride);
}

PAR_LEVELS(runBlock, forwardBlock, const ForwardBlock &)

} // namespace
} // namespace par::cpu

extern "C" void par_attention_forward(void *context, void *description, void *bufferList) {
  using namespace par::cpu;
  const par_attention &what = *static_cast<par_attention *>(description);
  void *const *buffers = static_cast<void *const *>(bufferList);
  AttentionCall attention(context, what, buffers, /*backward=*/false);
  AttentionOperands<float> operands(buffers);
  beat(context);
  runItems(poolOf(context), countQueryBlocks(what), [&](int64_t item) {
    runBlock({queryBlockAt(item, attention, operands), static_cast<float *>(buffers[par_attention_out]),
              static_cast<float *>(buffers[par_attention_lse])});
  });
}
