/// The pieces of blocked attention that work on one tile of scores: qTile query rows of one head times kTile
/// keys.
#ifndef PAR_CPU_ATTENTIONTILE_H
#define PAR_CPU_ATTENTIONTILE_H

#include "par/runtime.h"

#include <algorithm>
#include <cstdint>

namespace par::cpu {

constexpr int64_t qTile = 128, kTile = 128;

/// A tile's scores, rows of kTile floats. Columns from `keys` to the next multiple of 16 are there but mean
/// nothing.
using Scores = float[qTile * kTile];

/// Where the buffers of one attention call are and how they are strided (shapes: runtime.h).
struct AttentionView {
  const par_attention &what;
  const float *q, *k, *v;
  const int32_t *qPositions, *kPositions;
  const int32_t *key, *site, *row, *offsets;

  AttentionView(const par_attention &what, void *const *buffers)
      : what(what), q(static_cast<float *>(buffers[0])), k(static_cast<float *>(buffers[1])),
        v(static_cast<float *>(buffers[2])), qPositions(static_cast<int32_t *>(buffers[3])),
        kPositions(static_cast<int32_t *>(buffers[4])), key(static_cast<int32_t *>(buffers[5])),
        site(static_cast<int32_t *>(buffers[6])), row(static_cast<int32_t *>(buffers[7])),
        offsets(static_cast<int32_t *>(buffers[8])) {}

  int64_t outStride() const {
    return what.kv_heads * what.group * what.head_dim;
  } ///< between rows of out and dout
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

/// Query rows [q, q + rows) times keys [k, k + keys).
struct Tile {
  int64_t q, rows, k, keys;
  int64_t width() const { return (keys + 15) / 16 * 16; }
};

enum class Visibility { none, some, all };

/// What the positions allow, judged by their extremes: `none` and `all` are certain.
Visibility visibilityOf(const AttentionView &attention, const Tile &tile);

/// scores = scale * Q Kᵀ, then -inf where a query does not see a key (and in the meaningless columns).
void scoreTile(const AttentionView &attention, const Head &head, const Tile &tile, Visibility visibility,
               Scores &scores);

/// keep = 1 / (1 - dropout) where an element is kept, else 0.
void dropoutTile(const AttentionView &attention, const Head &head, const Tile &tile, Scores &keep);

} // namespace par::cpu
#endif
