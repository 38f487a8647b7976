/// What happens to a tile of scores between its products, forward and backward, whatever the products are
/// computed with.
#ifndef PAR_CPU_ATTENTIONSCORES_H
#define PAR_CPU_ATTENTIONSCORES_H

#include "cpu/AttentionCover.h"
#include "cpu/Bf16.h"

#include <cmath>
#include <limits>

namespace par::cpu {

/// Of every query of a block.
struct RunningSoftmax {
  alignas(64) float highest[qTile], sum[qTile];

  /// The sink is the first score that is seen; -inf, which there is without one, has no weight.
  explicit RunningSoftmax(float sink) {
    std::fill_n(highest, qTile, sink);
    std::fill_n(sum, qTile, sink == -std::numeric_limits<float>::infinity() ? 0.0f : 1.0f);
  }
};

/// scores = cap * tanh(scores / cap)
template <typename L>
PAR_INLINE void capPart(const TilePart &part, float cap, Scores &scores) {
  const float inverse = 1.0f / cap;
  for (int64_t i = part.key; i < part.key + part.keys; ++i)
    for (int64_t j = part.query; j < part.query + part.queries; j += L::width) {
      typename L::Floats score;
      load(score, scores + i * qTile + j);
      score *= inverse;
      hyperbolicTangent<L>(score);
      store(score * cap, scores + i * qTile + j);
    }
}

/// scores = -inf where a query does not see a key.
template <typename L, bool documents>
PAR_INLINE void maskPartBy(const AttentionView &attention, int64_t entry, const Tile &tile,
                           const TilePart &part, Scores &scores) {
  const par_attention &what = attention.what;
  const RowTable ofQueries = attention.queryTable(entry), ofKeys = attention.keyTable(entry);
  int32_t queries[qTile] = {}, documentsOfQueries[qTile] = {};
  const int64_t first = tile.q + part.query, count = std::min(part.queries, tile.rows - part.query);
  std::copy_n(ofQueries.positions + first, count, queries);
  if (documents)
    std::copy_n(ofQueries.documents + first, count, documentsOfQueries);
  const typename L::Floats hidden = typename L::Floats{} - std::numeric_limits<float>::infinity();
  for (int64_t i = part.key; i < part.key + part.keys; ++i) {
    int64_t key = ofKeys.positions[tile.k + i];
    // Without a rule its bound lies beyond every position.
    auto low = int32_t(what.causal ? key : INT32_MIN);
    auto high = int32_t(std::min<int64_t>(what.window ? key + what.window - 1 : INT32_MAX, INT32_MAX));
    int32_t document = documents ? ofKeys.documents[tile.k + i] : 0;
    for (int64_t j = 0; j < part.queries; j += L::width) {
      float *at = scores + i * qTile + part.query + j;
      typename L::Ints position, own;
      typename L::Floats score;
      load(position, queries + j), load(score, at);
      typename L::Ints seen = (position >= low) & (position <= high);
      if (documents) {
        load(own, documentsOfQueries + j);
        seen &= own == document;
      }
      score = seen != 0 ? score : hidden;
      store(score, at);
    }
  }
}

/// Every element of a part is capped before the softmax, then -inf where it is not seen.
template <typename L>
PAR_INLINE void finishScores(const AttentionView &attention, int64_t entry, const Tile &tile,
                             const TilePart &part, bool masked, Scores &scores) {
  if (attention.what.cap > 0)
    capPart<L>(part, attention.what.cap, scores);
  if (masked && attention.hasDocuments())
    maskPartBy<L, true>(attention, entry, tile, part, scores);
  else if (masked)
    maskPartBy<L, false>(attention, entry, tile, part, scores);
}

/// scores *= keep
template <typename L>
PAR_INLINE void dropPart(const TilePart &part, const Scores &keep, Scores &scores) {
  for (int64_t i = part.key; i < part.key + part.keys; ++i)
    for (int64_t j = part.query; j < part.query + part.queries; j += L::width) {
      typename L::Floats score, factor;
      load(score, scores + i * qTile + j), load(factor, keep + i * qTile + j);
      store(score * factor, scores + i * qTile + j);
    }
}

/// Turns the scores of some vectors of queries, from `first` on, into exp(score - m') and updates m and l;
/// what was summed before is scaled by exp(m - m').
template <typename L, int vectors>
PAR_INLINE void softmaxColumns(int64_t first, const TilePart &part, Scores &scores, RunningSoftmax &running,
                               float *out, int64_t dim) {
  using Floats = typename L::Floats;
  const float lowest = -std::numeric_limits<float>::infinity();
  const int64_t end = part.key + part.keys;
  Floats highest[vectors], base[vectors], factor[vectors], sum[vectors];
  for (int j = 0; j < vectors; ++j)
    load(highest[j], running.highest + first + j * L::width);
  for (int64_t i = part.key; i < end; ++i)
    for (int j = 0; j < vectors; ++j) {
      Floats score;
      load(score, scores + i * qTile + first + j * L::width);
      maximize(highest[j], score);
    }
  bool moved = false;
  for (int j = 0; j < vectors; ++j) {
    Floats before;
    load(before, running.highest + first + j * L::width);
    // A query that has seen no key yet: every score is -inf, and -inf - -inf would be NaN.
    base[j] = highest[j] == lowest ? Floats{} : highest[j];
    factor[j] = before == lowest ? Floats{} + lowest : before - base[j];
    exponential<L>(factor[j]);
    for (int lane = 0; lane < L::width; ++lane)
      moved |= factor[j][lane] != 1.0f;
    store(highest[j], running.highest + first + j * L::width);
    load(sum[j], running.sum + first + j * L::width);
    sum[j] *= factor[j];
  }
  for (int64_t i = part.key; i < end; ++i)
    for (int j = 0; j < vectors; ++j) {
      float *at = scores + i * qTile + first + j * L::width;
      Floats score;
      load(score, at);
      score -= base[j];
      exponential<L>(score);
      sum[j] += score;
      store(score, at);
    }
  for (int j = 0; j < vectors; ++j)
    store(sum[j], running.sum + first + j * L::width);
  for (int64_t d = 0; moved && d < dim; ++d)
    for (int j = 0; j < vectors; ++j) {
      float *at = out + d * qTile + first + j * L::width;
      Floats value;
      load(value, at);
      value *= factor[j];
      store(value, at);
    }
}

template <typename L>
PAR_INLINE void softmaxPart(const TilePart &part, Scores &scores, RunningSoftmax &running, float *out,
                            int64_t dim) {
  int64_t j = part.query, end = part.query + part.queries;
  for (; j + 4 * L::width <= end; j += 4 * L::width)
    softmaxColumns<L, 4>(j, part, scores, running, out, dim);
  for (; j < end; j += L::width)
    softmaxColumns<L, 1>(j, part, scores, running, out, dim);
}

/// out [dim][qTile] /= l, and lse = m + log l; a query without keys has 0 and -inf.
template <typename L>
PAR_INLINE void finishRows(const RunningSoftmax &running, int64_t rows, int64_t dim, float *out, float *lse) {
  alignas(64) float factors[qTile];
  for (int64_t j = 0; j < qTile; ++j)
    factors[j] = running.sum[j] != 0 ? 1.0f / running.sum[j] : 1.0f;
  for (int64_t d = 0; d < dim; ++d)
    for (int64_t j = 0; j < rows; j += L::width) {
      typename L::Floats value, factor;
      load(value, out + d * qTile + j), load(factor, factors + j);
      store(value * factor, out + d * qTile + j);
    }
  for (int64_t j = 0; j < rows; ++j)
    lse[j] = running.sum[j] != 0 ? running.highest[j] + std::log(running.sum[j])
                                 : -std::numeric_limits<float>::infinity();
}

/// lse and delta of every query of a block; what the lanes beyond its rows hold is finite.
struct QueryTerms {
  alignas(64) float lse[qTile], delta[qTile];
};

/// delta of the queries of transposed panels [dim][qTile]: Σ out dout, in f64, as it is the small difference
/// of larger terms that counts.
template <typename L>
PAR_INLINE void deltaOfPanels(const float *out, const float *dout, int64_t dim, int64_t rows, float *delta) {
  constexpr int64_t width = L::width / 2;
  using Half = float __attribute__((vector_size(width * sizeof(float))));
  using Doubles = double __attribute__((vector_size(width * sizeof(double))));
  for (int64_t j = 0; j < rows; j += width) {
    Doubles sum{};
    for (int64_t d = 0; d < dim; ++d) {
      Half a, b;
      load(a, out + d * qTile + j), load(b, dout + d * qTile + j);
      sum += __builtin_convertvector(a, Doubles) * __builtin_convertvector(b, Doubles);
    }
    store(__builtin_convertvector(sum, Half), delta + j);
  }
}

/// One tile holds all keys, and no sink has a part of the weight.
inline bool hasAllKeys(const par_attention &what) { return what.k_rows <= kTile && !what.has_sinks; }

/// P of a vector of queries.
template <typename L>
PAR_INLINE void probability(const float *scores, const typename L::Floats &lse, typename L::Floats &p) {
  load(p, scores);
  p -= lse;
  exponential<L>(p);
  // A query that sees no key.
  p = lse == -std::numeric_limits<float>::infinity() ? typename L::Floats{} : p;
}

/// delta of queries all of whose keys are at hand: Σ P∘(dP∘Z) / Σ P of the very P that dS is made of, so that
/// dS adds up to zero but for its own rounding.
template <typename L>
PAR_INLINE void deltaOfPart(const TilePart &part, const Scores &scores, const Scores &products,
                            const float *keep, QueryTerms &terms) {
  using Floats = typename L::Floats;
  constexpr int parts = 4; // sums of a part of the keys each: shorter sums, smaller errors
  for (int64_t j = part.query; j < part.query + part.queries; j += L::width) {
    Floats lse, sum[parts] = {}, weight[parts] = {};
    load(lse, terms.lse + j);
    for (int64_t i = part.key; i < part.key + part.keys; ++i) {
      Floats p, product;
      probability<L>(scores + i * qTile + j, lse, p);
      load(product, products + i * qTile + j);
      if (keep) {
        Floats factor;
        load(factor, keep + i * qTile + j);
        product *= factor;
      }
      sum[i % parts] += p * product;
      weight[i % parts] += p;
    }
    Floats whole = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    Floats all = (weight[0] + weight[1]) + (weight[2] + weight[3]);
    store(all > 0.0f ? whole / all : Floats{}, terms.delta + j);
  }
}

/// scores → P∘Z and products → dS without the scale, both in place. `keep` is null without dropout.
template <typename L, bool capped>
PAR_INLINE void backwardScoresBy(const TilePart &part, float cap, Scores &scores, Scores &products,
                                 const float *keep, const QueryTerms &terms) {
  using Floats = typename L::Floats;
  const float inverse = capped ? 1.0f / cap : 0.0f;
  for (int64_t j = part.query; j < part.query + part.queries; j += L::width) {
    Floats lse, delta;
    load(lse, terms.lse + j);
    load(delta, terms.delta + j);
    for (int64_t i = part.key; i < part.key + part.keys; ++i) {
      int64_t at = i * qTile + j;
      Floats p, product, factor = Floats{} + 1.0f;
      probability<L>(scores + at, lse, p);
      load(product, products + at);
      if (keep)
        load(factor, keep + at);
      Floats gradient = p * (product * factor - delta);
      if (capped) {
        Floats share;
        load(share, scores + at);
        share *= inverse;
        // A pair that is not seen has no gradient, whatever its slope is, as long as that is a number.
        maximize(share, Floats{} - 1.0f);
        gradient *= 1.0f - share * share;
      }
      store(gradient, products + at);
      store(p * factor, scores + at);
    }
  }
}

template <typename L>
PAR_INLINE void backwardScores(const TilePart &part, float cap, Scores &scores, Scores &products,
                               const float *keep, const QueryTerms &terms) {
  if (cap > 0)
    backwardScoresBy<L, true>(part, cap, scores, products, keep, terms);
  else
    backwardScoresBy<L, false>(part, cap, scores, products, keep, terms);
}

/// Turns the products of a part, K·Q in `scores` and V·dO in `products`, into P∘Z and dS without the scale.
template <typename L>
PAR_INLINE void gradientsOfPart(const AttentionView &attention, const Head &head, const Tile &tile,
                                const TilePart &part, bool masked, TileMemory &memory, QueryTerms &terms) {
  const par_attention &what = attention.what;
  finishScores<L>(attention, head.batch, tile, part, masked, memory.scores);
  const float *keep = nullptr;
  if (what.dropout > 0) {
    dropoutPart(attention, head, tile, part, memory.keep);
    keep = memory.keep;
  }
  if (hasAllKeys(what))
    deltaOfPart<L>(part, memory.scores, memory.products, keep, terms);
  backwardScores<L>(part, what.cap, memory.scores, memory.products, keep, terms);
}

} // namespace par::cpu
#endif
