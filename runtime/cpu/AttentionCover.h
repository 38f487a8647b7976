/// Which parts of a tile of scores are computed: half of a tile on the diagonal is not seen.
#ifndef PAR_CPU_ATTENTIONCOVER_H
#define PAR_CPU_ATTENTIONCOVER_H

#include "cpu/AttentionTile.h"

namespace par::cpu {

template <int most>
struct TileParts {
  int count = 0;
  TilePart list[most];

  void add(const TilePart &part) { list[count++] = part; }
  const TilePart *begin() const { return list; }
  const TilePart *end() const { return list + count; }
};

/// Queries are looked at in bands of this many, keys in strips of as many.
constexpr int64_t bandWidth = 32, bandsOfTile = qTile / bandWidth, stripsOfTile = kTile / bandWidth;

/// The elements of a tile that are computed, twice: by queries and by keys. The others have no probability
/// and are neither written nor read.
struct TileCover {
  TileParts<bandsOfTile> bands; ///< no query is in two; the last one's may reach beyond the block's rows
  TileParts<stripsOfTile *((bandsOfTile + 1) / 2)> strips; ///< whole keys, all queries that see one of them
  bool masked = false;                                     ///< some elements of the parts are not seen
};

/// The lowest and highest position and document of some rows; where all are of one document, that is 0.
struct RowExtremes {
  int32_t lowPosition, highPosition, lowDocument = 0, highDocument = 0;

  /// The extremes of rows [first, first + count) of a table.
  static RowExtremes of(const RowTable &table, int64_t first, int64_t count);
  void include(const RowExtremes &other);
};

/// Room for the extremes of tiles of keys: from the start for 65,536 keys; a first call with more takes it
/// from the heap.
class KeyTileMemory {
public:
  RowExtremes *take(int64_t tiles) {
    if (tiles <= usualTiles)
      return usual;
    if (int64_t(large.size()) < tiles)
      large.resize(size_t(tiles));
    return large.data();
  }

private:
  static constexpr int64_t usualTiles = 65536 / kTile;
  RowExtremes usual[usualTiles];
  std::vector<RowExtremes> large;
};

/// The extremes of every tile of a call's keys. They lie in memory of the thread that makes it, which does so
/// once per call; others may read them until then.
class KeyTiles {
public:
  explicit KeyTiles(const AttentionView &attention);

  const RowExtremes &of(int64_t entry, int64_t k) const {
    return list[(rowsPerEntry ? entry * perEntry : 0) + k / kTile];
  }

private:
  const bool rowsPerEntry;
  const int64_t perEntry;
  const RowExtremes *list;
};

/// The extremes of a block's queries, by band.
struct BlockQueries {
  RowTable table;
  int64_t entry, q, rows;
  RowExtremes band[bandsOfTile], all;

  BlockQueries(const AttentionView &attention, int64_t entry, int64_t q, int64_t rows);
  int64_t bands() const { return (rows + bandWidth - 1) / bandWidth; }
};

/// Whether a tile has to be looked at: none of its keys is seen where the extremes of all say so.
inline bool mightSee(const par_attention &what, const RowExtremes &queries, const RowExtremes &keys) {
  return (!what.causal || keys.lowPosition <= queries.highPosition) &&
         (!what.window || int64_t(queries.lowPosition) - keys.highPosition < what.window) &&
         keys.lowDocument <= queries.highDocument && queries.lowDocument <= keys.highDocument;
}

/// Judged by the extremes of bands; where a band's queries are of several documents, query by query. `keys`:
/// the tile's.
TileCover coverOf(const AttentionView &attention, const RowExtremes &keys, const BlockQueries &queries,
                  const Tile &tile);

/// Pairs of a query and a key that are computed.
int64_t countPairs(const TileCover &cover, const Tile &tile);

} // namespace par::cpu
#endif
