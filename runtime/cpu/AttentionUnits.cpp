#include "cpu/AttentionUnits.h"

#include "cpu/AttentionUnitParts.h"

// The algorithm is that of AttentionForward.cpp, tile by tile.

namespace par::cpu {

const PanelKernels &panelKernels() {
  return usedBf16Units() == Bf16Units::tiles ? tilePanels() : dotPanels();
}

namespace {

using namespace units;

struct ForwardBlock : QueryBlock<uint16_t> {
  uint16_t *out;
  float *lse;
};

PAR_UNITS void forwardBlock(const ForwardBlock &block) {
  TileMemory &memory = threadMemory<TileMemory>();
  const PanelKernels &kernels = panelKernels();
  const AttentionCall &a = block.attention;
  const par_attention &what = a.what;
  const int64_t dim = what.head_dim, whole = wholeDim(dim);
  const int64_t valueDim = what.value_dim, wholeValues = wholeDim(valueDim);
  // The rows of what is written lie where queries lay.
  const int64_t ofQueries = std::max(whole / 2, wholeValues) * qTile;
  float *next = memory.panels((wholeValues + wholeValues / 2 + whole / 2) * qTile + ofQueries);
  auto take = [&](int64_t floats) { return std::exchange(next, next + floats); };
  float *out = take(wholeValues * qTile), *queryRoom = take(ofQueries), *keyRoom = take(whole / 2 * qTile),
        *valueRoom = take(wholeValues / 2 * qTile);
  const uint16_t *q = block.operands.q + block.head.inQueries(a, block.q, what.q_stride);
  PairRows queries = rightOfTransposed({q, what.q_stride, block.rows, dim}, whole, queryRoom);
  std::fill_n(out, wholeValues * qTile, 0.0f);
  RunningSoftmax running(a.sinkOf(block.head.kvHead, block.head.group));
  for (TileWalk walk(a, block.head, block.q, block.rows); walk.next();) {
    const Tile &tile = walk.tile;
    const uint16_t *keys = block.operands.k + block.head.inKeys(a, tile.k, what.k_stride);
    const uint16_t *values = block.operands.v + block.head.inValues(a, tile.k, what.v_stride);
    PairRows left = leftOf({keys, what.k_stride, tile.keys, dim}, whole, keyRoom);
    PairRows transposed =
        leftOfTransposed({values, what.v_stride, tile.keys, valueDim}, wholeValues, valueRoom);
    for (const TilePart &part : walk.cover.bands) {
      scoresOf(kernels, part, left, queries, whole, what.scale, memory.scores);
      finishScores<L>(a, block.head.batch, tile, part, walk.cover.masked, memory.scores);
      softmaxPart<L>(part, memory.scores, running, out, valueDim);
      if (what.dropout > 0) { // of the probabilities: the denominator counts dropped elements too
        dropoutPart(a, block.head, tile, part, memory.keep);
        dropPart<L>(part, memory.keep, memory.scores);
      }
      addProduct(kernels, part, wholeValues, transposed,
                 roundedRight(memory.scores, part, 1.0f, memory.pairs[0]), out);
    }
  }
  finishRows<L>(running, block.rows, valueDim, out, block.lse + block.head.lseOffset(a) + block.q);
  float *rows = queryRoom;
  unpackTransposed<L>(out, block.rows, valueDim, 1.0f, rows, valueDim);
  uint16_t *to = block.out + block.head.inOut(a, block.q);
  for (int64_t i = 0; i < block.rows; ++i)
    roundRow(rows + i * valueDim, to + i * a.outStride(), valueDim);
}

} // namespace

void attendByUnits(void *context, const par_attention &what, void *const *buffers) {
  AttentionCall attention(context, what, buffers, /*backward=*/false);
  AttentionOperands<uint16_t> operands(buffers);
  beat(context);
  runOnUnits(context, countQueryBlocks(what), [&](int64_t item) {
    forwardBlock({queryBlockAt(item, attention, operands),
                  static_cast<uint16_t *>(buffers[par_attention_out]),
                  static_cast<float *>(buffers[par_attention_lse])});
  });
}

} // namespace par::cpu
