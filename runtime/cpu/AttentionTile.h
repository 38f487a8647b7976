/// What blocked attention's directions share: views of the buffers, and the pieces that work on one tile of
/// scores, kTile keys times qTile query rows of one head.
///
/// A tile has a row per key and a column per query, so that queries are the lanes of vectors: maxima and sums
/// over keys need no step across lanes, and of the operands only queries are transposed, once per block of
/// them.
#ifndef PAR_CPU_ATTENTIONTILE_H
#define PAR_CPU_ATTENTIONTILE_H

#include "cpu/PanelProduct.h"
#include "par/runtime.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace par::cpu {

constexpr int64_t qTile = 64, kTile = 64;

/// Scores of a tile: [key][query]. Columns beyond the tile's queries hold finite numbers that mean nothing.
using Scores = float[kTile * qTile];

/// What of an attention call is alike for all types of numbers (shapes: runtime.h).
struct AttentionView {
  const par_attention &what;
  const int32_t *qPositions, *kPositions;
  const int32_t *key, *site, *row, *offsets;

  AttentionView(const par_attention &what, void *const *buffers)
      : what(what), qPositions(static_cast<int32_t *>(buffers[3])),
        kPositions(static_cast<int32_t *>(buffers[4])), key(static_cast<int32_t *>(buffers[5])),
        site(static_cast<int32_t *>(buffers[6])), row(static_cast<int32_t *>(buffers[7])),
        offsets(static_cast<int32_t *>(buffers[8])) {}

  int64_t outStride() const {
    return what.kv_heads * what.group * what.head_dim;
  } ///< between rows of out and dout
  /// head_dim up to whole vectors: what rows of copies are apart.
  int64_t paddedDim() const { return (what.head_dim + 15) / 16 * 16; }
};

/// Where a call's operands are.
template <typename Element>
struct AttentionOperands {
  const Element *q, *k, *v;

  explicit AttentionOperands(void *const *buffers)
      : q(static_cast<Element *>(buffers[0])), k(static_cast<Element *>(buffers[1])),
        v(static_cast<Element *>(buffers[2])) {}
};

/// One query head of one sequence.
struct Head {
  int64_t batch, kvHead, group;
  /// Element of (row, this head) in q and what has its shape, in k and what has its shape, whose rows are
  /// `stride` apart.
  int64_t inQueries(const AttentionView &a, int64_t row, int64_t stride) const {
    return (batch * a.what.q_rows + row) * stride + (kvHead * a.what.group + group) * a.what.head_dim;
  }
  int64_t inKeys(const AttentionView &a, int64_t row, int64_t stride) const {
    return (batch * a.what.k_rows + row) * stride + kvHead * a.what.head_dim;
  }
  /// Element of (row 0, this head) in lse.
  int64_t lseOffset(const AttentionView &a) const {
    return ((batch * a.what.kv_heads + kvHead) * a.what.group + group) * a.what.q_rows;
  }
};

/// Query rows [q, q + rows) of one head: what a thread takes at a time.
template <typename Element>
struct QueryBlock {
  const AttentionView &attention;
  const AttentionOperands<Element> &operands;
  Head head;
  int64_t q, rows;
};

inline int64_t countQueryBlocks(const par_attention &what) {
  return what.batch * what.kv_heads * what.group * ((what.q_rows + qTile - 1) / qTile);
}

/// Head by head, so that its keys and values stay in the second cache. Later rows see more keys: they come
/// first, for whichever thread is free.
template <typename Element>
QueryBlock<Element> queryBlockAt(int64_t item, const AttentionView &attention,
                                 const AttentionOperands<Element> &operands) {
  const par_attention &what = attention.what;
  int64_t blocks = (what.q_rows + qTile - 1) / qTile;
  int64_t head = item / blocks, q = (blocks - 1 - item % blocks) * qTile;
  return {attention,
          operands,
          {head / what.group / what.kv_heads, head / what.group % what.kv_heads, head % what.group},
          q,
          std::min(qTile, what.q_rows - q)};
}

/// Query rows [q, q + rows) times keys [k, k + keys).
struct Tile {
  int64_t q, rows, k, keys;
};

/// Queries [query, query + queries) times keys [key, key + keys) of a tile.
struct TilePart {
  int64_t query, queries, key, keys;

  int64_t inScores() const { return key * qTile + query; }
};

/// keep = 1 / (1 - dropout) where an element is kept, else 0.
void dropoutPart(const AttentionView &attention, const Head &head, const Tile &tile, const TilePart &part,
                 Scores &keep);

/// What a thread works on one block of queries with: tiles, and panels of kTile or qTile times head_dim for
/// copies of operands, and pairs of bf16 numbers that scores are rounded to. Panels are there from the start
/// for head_dim up to `usualDim`; a first call with more takes them from the heap.
class TileMemory {
public:
  alignas(64) Scores scores, products, keep;
  alignas(64) float pairs[3][kTile * qTile / 2];

  /// `count` panels, one behind the other.
  float *panels(int64_t count, int64_t dim) {
    if (dim <= usualDim)
      return usual;
    if (int64_t(large.size()) < count * kTile * dim)
      large.resize(size_t(count * kTile * dim));
    return large.data();
  }

private:
  static constexpr int64_t mostPanels = 6, usualDim = 256;
  alignas(64) float usual[mostPanels * kTile * usualDim];
  std::vector<float> large;
};

} // namespace par::cpu
#endif
