#include "cpu/AttentionBlock.h"

namespace par::cpu {

bool TileWalk::next() {
  const par_attention &what = attention.what;
  for (tile.k += kTile; tile.k < what.k_rows; tile.k += kTile) {
    const RowExtremes &keys = attention.keyTiles.of(queries.entry, tile.k);
    if (!mightSee(what, queries.all, keys))
      continue; // most tiles, where windows or documents are short
    tile.keys = std::min(kTile, what.k_rows - tile.k);
    cover = coverOf(attention, keys, queries, tile);
    if (!cover.bands.count)
      continue;
    pairs += countPairs(cover, tile);
    return true;
  }
  if (attention.counted)
    attention.counted->fetch_add(pairs, std::memory_order_relaxed);
  return false;
}

} // namespace par::cpu
