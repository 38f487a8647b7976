#include "cpu/AttentionCover.h"

#include "cpu/Simd.h"

namespace par::cpu {
namespace {

struct Extremes {
  int32_t low, high;
};

PAR_CLONES Extremes extremesOf(const int32_t *positions, int64_t count) {
  int32_t low = positions[0], high = positions[0];
  for (int64_t i = 1; i < count; ++i) {
    low = positions[i] < low ? positions[i] : low;
    high = positions[i] > high ? positions[i] : high;
  }
  return {low, high};
}

/// Strips [begin, end) of a tile.
struct Strips {
  int64_t begin, end;
  bool operator==(const Strips &other) const { return begin == other.begin && end == other.end; }
  bool holds(int64_t strip) const { return begin <= strip && strip < end; }
};

/// Strips from the first to the last key that a query between `low` and `high` might see.
Strips stripsSeen(const AttentionView &attention, int32_t low, int32_t high, const Tile &tile) {
  const par_attention &what = attention.what;
  const int32_t *keys = attention.kPositions + tile.k;
  auto seen = [&](int64_t i) {
    return (!what.causal || keys[i] <= high) && (!what.window || int64_t(low) - keys[i] < what.window);
  };
  int64_t begin = 0, end = tile.keys;
  while (end > 0 && !seen(end - 1))
    --end;
  while (begin < end && !seen(begin))
    ++begin;
  return {begin / bandWidth, begin < end ? (end + bandWidth - 1) / bandWidth : begin / bandWidth};
}

/// What each band sees, in parts of the cover.
class Parts {
public:
  Parts(const Tile &tile, int64_t bands) : tile(tile), bands(bands) {}

  Strips &of(int64_t band) { return seen[band]; }

  TileCover cover() const {
    TileCover cover;
    for (int64_t first = 0, last; first < bands; first = last) {
      for (last = first + 1; last < bands && seen[last] == seen[first];)
        ++last;
      if (seen[first].begin < seen[first].end)
        cover.bands.add({first * bandWidth, (last - first) * bandWidth, firstKey(seen[first].begin),
                         firstKey(seen[first].end) - firstKey(seen[first].begin)});
    }
    for (int64_t first = 0, last; first * bandWidth < tile.keys; first = last) {
      for (last = first + 1; last * bandWidth < tile.keys && seenByTheSame(first, last);)
        ++last;
      addStrips(first, last, cover);
    }
    return cover;
  }

private:
  int64_t firstKey(int64_t strip) const { return std::min(strip * bandWidth, tile.keys); }

  bool seenByTheSame(int64_t strip, int64_t other) const {
    bool same = true;
    for (int64_t band = 0; band < bands; ++band)
      same &= seen[band].holds(strip) == seen[band].holds(other);
    return same;
  }

  void addStrips(int64_t begin, int64_t end, TileCover &cover) const {
    for (int64_t first = 0, last; first < bands; first = last) {
      for (last = first + 1; last < bands && seen[last].holds(begin) == seen[first].holds(begin);)
        ++last;
      int64_t query = first * bandWidth;
      if (seen[first].holds(begin))
        cover.strips.add({query, std::min(last * bandWidth, tile.rows) - query, firstKey(begin),
                          firstKey(end) - firstKey(begin)});
    }
  }

  const Tile &tile;
  int64_t bands;
  Strips seen[bandsOfTile];
};

} // namespace

QueryPositions::QueryPositions(const AttentionView &attention, int64_t q, int64_t rows) : rows(rows) {
  const int32_t *positions = attention.qPositions + q;
  for (int64_t band = 0; band < bands(); ++band) {
    int64_t first = band * bandWidth;
    Extremes extremes = extremesOf(positions + first, std::min(bandWidth, rows - first));
    low[band] = extremes.low, high[band] = extremes.high;
  }
  lowest = *std::min_element(low, low + bands()), highest = *std::max_element(high, high + bands());
}

TileCover coverOf(const AttentionView &attention, const QueryPositions &queries, const Tile &tile) {
  const par_attention &what = attention.what;
  Extremes keys = extremesOf(attention.kPositions + tile.k, tile.keys);
  if ((what.causal && keys.low > queries.highest) ||
      (what.window && int64_t(queries.lowest) - keys.high >= what.window))
    return {};
  bool all = (!what.causal || keys.high <= queries.lowest) &&
             (!what.window || int64_t(queries.highest) - keys.low < what.window);
  Parts parts(tile, queries.bands());
  for (int64_t band = 0; band < queries.bands(); ++band)
    parts.of(band) = all ? Strips{0, (tile.keys + bandWidth - 1) / bandWidth}
                         : stripsSeen(attention, queries.low[band], queries.high[band], tile);
  TileCover cover = parts.cover();
  cover.masked = !all;
  return cover;
}

} // namespace par::cpu
