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

/// Position and document of each row of one entry of the batch; no documents where all rows are of one.
struct RowTable {
  const int32_t *positions, *documents;
};

/// What of an attention call is alike for all types of numbers (shapes: runtime.h).
struct AttentionView {
  const par_attention &what;
  const int32_t *key, *site, *row, *offsets;

  AttentionView(const par_attention &what, void *const *buffers)
      : what(what), key(integers(buffers[par_attention_key])), site(integers(buffers[par_attention_site])),
        row(integers(buffers[par_attention_row])), offsets(integers(buffers[par_attention_offsets])),
        ofQueries{integers(buffers[par_attention_q_positions]), integers(buffers[par_attention_q_documents])},
        ofKeys{integers(buffers[par_attention_k_positions]), integers(buffers[par_attention_k_documents])},
        sinks(buffers[par_attention_sinks]) {}

  RowTable queryTable(int64_t entry) const { return tableOf(ofQueries, entry, what.q_rows); }
  RowTable keyTable(int64_t entry) const { return tableOf(ofKeys, entry, what.k_rows); }
  bool hasDocuments() const { return ofQueries.documents; }
  /// The score of a head's sink; -inf, which has no weight, without one.
  float sinkOf(int64_t kvHead, int64_t group) const;

  /// Between rows of out and dout.
  int64_t outStride() const { return what.kv_heads * what.group * what.value_dim; }
  /// Sizes of keys and of values up to whole vectors: what rows of copies are apart.
  int64_t paddedKeys() const { return padded(what.head_dim); }
  int64_t paddedValues() const { return padded(what.value_dim); }

private:
  static const int32_t *integers(void *buffer) { return static_cast<int32_t *>(buffer); }
  static int64_t padded(int64_t dim) { return (dim + 15) / 16 * 16; }
  RowTable tableOf(const RowTable &whole, int64_t entry, int64_t rows) const {
    int64_t first = what.rows_per_entry ? entry * rows : 0;
    return {whole.positions + first, whole.documents ? whole.documents + first : nullptr};
  }

  RowTable ofQueries, ofKeys;
  const void *sinks;
};

/// One query head of one sequence.
struct Head {
  int64_t batch, kvHead, group;
  /// Element of (row, this head) in q, out, k, v and what has the shape of each, whose rows are `stride`
  /// apart.
  int64_t inQueries(const AttentionView &a, int64_t row, int64_t stride) const {
    return (batch * a.what.q_rows + row) * stride + queryHead(a) * a.what.head_dim;
  }
  int64_t inOut(const AttentionView &a, int64_t row) const {
    return (batch * a.what.q_rows + row) * a.outStride() + queryHead(a) * a.what.value_dim;
  }
  int64_t inKeys(const AttentionView &a, int64_t row, int64_t stride) const {
    return (batch * a.what.k_rows + row) * stride + kvHead * a.what.head_dim;
  }
  int64_t inValues(const AttentionView &a, int64_t row, int64_t stride) const {
    return (batch * a.what.k_rows + row) * stride + kvHead * a.what.value_dim;
  }
  /// Element of (row 0, this head) in lse.
  int64_t lseOffset(const AttentionView &a) const {
    return (batch * a.what.kv_heads * a.what.group + queryHead(a)) * a.what.q_rows;
  }
  int64_t queryHead(const AttentionView &a) const { return kvHead * a.what.group + group; }
};

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

/// A thread works on one block of queries with this: tiles, panels for copies of operands, and pairs of bf16
/// numbers that scores are rounded to. Panels are there from the start for six of kTile or qTile times
/// `usualDim`; a first call with more takes them from the heap.
class TileMemory {
public:
  alignas(64) Scores scores, products, keep;
  alignas(64) float pairs[3][kTile * qTile / 2];

  /// So many floats, for panels one behind the other.
  float *panels(int64_t floats) {
    if (floats <= usualPanels * kTile * usualDim)
      return usual;
    if (int64_t(large.size()) < floats)
      large.resize(size_t(floats));
    return large.data();
  }

private:
  static constexpr int64_t usualPanels = 6, usualDim = 256;
  alignas(64) float usual[usualPanels * kTile * usualDim];
  std::vector<float> large;
};

} // namespace par::cpu
#endif
