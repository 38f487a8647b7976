/// A call of attention, and the blocks that threads share it in.
#ifndef PAR_CPU_ATTENTIONBLOCK_H
#define PAR_CPU_ATTENTIONBLOCK_H

#include "cpu/AttentionCover.h"
#include "cpu/Context.h"

namespace par::cpu {

/// A call, as all of its blocks see it.
struct AttentionCall : AttentionView {
  KeyTiles keyTiles;

  AttentionCall(void *context, const par_attention &what, void *const *buffers, bool backward)
      : AttentionView(what, buffers), keyTiles(*this), counted(pairsOf(context, backward)) {}

  std::atomic<int64_t> *counted; ///< pairs that are computed; null: nobody counts
};

/// The tiles of a block's queries of which some is seen, one after the other:
///   for (TileWalk walk(attention, head, q, rows); walk.next();) …
class TileWalk {
public:
  TileWalk(const AttentionCall &attention, const Head &head, int64_t q, int64_t rows)
      : attention(attention), queries(attention, head.batch, q, rows), tile{q, rows, -kTile, 0} {}

  bool next();

private:
  const AttentionCall &attention;
  BlockQueries queries;
  int64_t pairs = 0;

public:
  Tile tile;
  TileCover cover;
};

/// The addresses of a call's operands.
template <typename Element>
struct AttentionOperands {
  const Element *q, *k, *v;

  explicit AttentionOperands(void *const *buffers)
      : q(static_cast<Element *>(buffers[par_attention_q])),
        k(static_cast<Element *>(buffers[par_attention_k])),
        v(static_cast<Element *>(buffers[par_attention_v])) {}
};

/// Query rows [q, q + rows) of one head: what a thread takes at a time.
template <typename Element>
struct QueryBlock {
  const AttentionCall &attention;
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
QueryBlock<Element> queryBlockAt(int64_t item, const AttentionCall &attention,
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

} // namespace par::cpu
#endif
