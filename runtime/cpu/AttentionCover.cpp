#include "cpu/AttentionCover.h"

#include "cpu/Simd.h"
#include "cpu/ThreadMemory.h"

namespace par::cpu {
namespace {

struct Extremes {
  int32_t low, high;
};

PAR_CLONES Extremes extremesOf(const int32_t *numbers, int64_t count) {
  int32_t low = numbers[0], high = numbers[0];
  for (int64_t i = 1; i < count; ++i) {
    low = numbers[i] < low ? numbers[i] : low;
    high = numbers[i] > high ? numbers[i] : high;
  }
  return {low, high};
}

bool allSeeAll(const par_attention &what, const RowExtremes &queries, const RowExtremes &keys) {
  return (!what.causal || keys.highPosition <= queries.lowPosition) &&
         (!what.window || int64_t(queries.highPosition) - keys.lowPosition < what.window) &&
         keys.lowDocument == queries.highDocument && queries.lowDocument == keys.highDocument;
}

/// Positions from `first` to `last` see a key, in one document.
struct Bounds {
  int32_t first, last;
};
Bounds boundsOf(const par_attention &what, int32_t key) {
  // The bound of a rule that does not hold lies beyond every position.
  int64_t last = what.window ? int64_t(key) + what.window - 1 : INT32_MAX;
  return {what.causal ? key : INT32_MIN, int32_t(std::min<int64_t>(last, INT32_MAX))};
}

PAR_CLONES bool anySees(const int32_t *positions, const int32_t *documents, int64_t count, Bounds bounds,
                        int32_t document) {
  int32_t seen = 0;
  for (int64_t i = 0; i < count; ++i)
    seen |= (positions[i] >= bounds.first) & (positions[i] <= bounds.last) & (documents[i] == document);
  return seen;
}

/// Strips [begin, end) of a tile.
struct Strips {
  int64_t begin, end;
  bool operator==(const Strips &other) const { return begin == other.begin && end == other.end; }
  bool holds(int64_t strip) const { return begin <= strip && strip < end; }
};

/// Strips from the first to the last key of a tile that `seen` holds for.
template <typename Seen>
Strips stripsWith(Seen &&seen, const Tile &tile) {
  int64_t begin = 0, end = tile.keys;
  while (end > 0 && !seen(end - 1))
    --end;
  while (begin < end && !seen(begin))
    ++begin;
  return {begin / bandWidth, begin < end ? (end + bandWidth - 1) / bandWidth : begin / bandWidth};
}

/// Those that a query of a band might see.
Strips stripsSeen(const AttentionView &attention, const BlockQueries &queries, int64_t band,
                  const Tile &tile) {
  const par_attention &what = attention.what;
  const RowExtremes &extremes = queries.band[band];
  RowTable keys = attention.keyTable(queries.entry);
  const int32_t *positions = keys.positions + tile.k,
                *documents = keys.documents ? keys.documents + tile.k : nullptr;
  if (extremes.lowDocument != extremes.highDocument) {
    // A key that one query sees by its position may be in another's document.
    int64_t first = queries.q + band * bandWidth,
            count = std::min(bandWidth, queries.rows - band * bandWidth);
    return stripsWith(
        [&](int64_t i) {
          return anySees(queries.table.positions + first, queries.table.documents + first, count,
                         boundsOf(what, positions[i]), documents[i]);
        },
        tile);
  }
  return stripsWith(
      [&](int64_t i) {
        return (!what.causal || positions[i] <= extremes.highPosition) &&
               (!what.window || int64_t(extremes.lowPosition) - positions[i] < what.window) &&
               (!documents || documents[i] == extremes.lowDocument);
      },
      tile);
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

RowExtremes RowExtremes::of(const RowTable &table, int64_t first, int64_t count) {
  Extremes positions = extremesOf(table.positions + first, count), documents{};
  if (table.documents)
    documents = extremesOf(table.documents + first, count);
  return {positions.low, positions.high, documents.low, documents.high};
}

void RowExtremes::include(const RowExtremes &other) {
  lowPosition = std::min(lowPosition, other.lowPosition);
  highPosition = std::max(highPosition, other.highPosition);
  lowDocument = std::min(lowDocument, other.lowDocument);
  highDocument = std::max(highDocument, other.highDocument);
}

KeyTiles::KeyTiles(const AttentionView &attention)
    : rowsPerEntry(attention.what.rows_per_entry), perEntry((attention.what.k_rows + kTile - 1) / kTile) {
  int64_t entries = rowsPerEntry ? attention.what.batch : 1, rows = attention.what.k_rows;
  RowExtremes *next = threadMemory<KeyTileMemory>().take(entries * perEntry);
  list = next;
  for (int64_t entry = 0; entry < entries; ++entry)
    for (int64_t k = 0; k < rows; k += kTile)
      *next++ = RowExtremes::of(attention.keyTable(entry), k, std::min(kTile, rows - k));
}

BlockQueries::BlockQueries(const AttentionView &attention, int64_t entry, int64_t q, int64_t rows)
    : table(attention.queryTable(entry)), entry(entry), q(q), rows(rows) {
  for (int64_t i = 0; i < bands(); ++i) {
    int64_t first = i * bandWidth;
    band[i] = RowExtremes::of(table, q + first, std::min(bandWidth, rows - first));
  }
  all = band[0];
  for (int64_t i = 1; i < bands(); ++i)
    all.include(band[i]);
}

TileCover coverOf(const AttentionView &attention, const RowExtremes &keys, const BlockQueries &queries,
                  const Tile &tile) {
  const par_attention &what = attention.what;
  if (!mightSee(what, queries.all, keys))
    return {};
  bool all = allSeeAll(what, queries.all, keys);
  Parts parts(tile, queries.bands());
  for (int64_t band = 0; band < queries.bands(); ++band)
    parts.of(band) =
        all ? Strips{0, (tile.keys + bandWidth - 1) / bandWidth} : stripsSeen(attention, queries, band, tile);
  TileCover cover = parts.cover();
  cover.masked = !all;
  return cover;
}

int64_t countPairs(const TileCover &cover, const Tile &tile) {
  int64_t pairs = 0;
  for (const TilePart &part : cover.bands)
    pairs += std::min(part.queries, tile.rows - part.query) * part.keys;
  return pairs;
}

} // namespace par::cpu
