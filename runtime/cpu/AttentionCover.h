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

/// The lowest and highest positions of a block's queries, by band.
struct QueryPositions {
  int64_t rows;
  int32_t low[bandsOfTile], high[bandsOfTile], lowest, highest;

  QueryPositions(const AttentionView &attention, int64_t q, int64_t rows);
  int64_t bands() const { return (rows + bandWidth - 1) / bandWidth; }
};

/// Judged by the extremes of positions in bands.
TileCover coverOf(const AttentionView &attention, const QueryPositions &queries, const Tile &tile);

} // namespace par::cpu
#endif
