/// What happens to a tile of scores between its products, forward and backward, whatever the products are
/// computed with.
#ifndef PAR_CPU_ATTENTIONSCORES_H
#define PAR_CPU_ATTENTIONSCORES_H

#include "cpu/AttentionTile.h"
#include "cpu/Bf16.h"

#include <cmath>
#include <limits>

namespace par::cpu {

/// Of every query of a block.
struct RunningSoftmax {
  alignas(64) float highest[qTile], sum[qTile];

  RunningSoftmax() {
    std::fill_n(highest, qTile, -std::numeric_limits<float>::infinity());
    std::fill_n(sum, qTile, 0.0f);
  }
};

/// Turns the scores of four vectors of queries, from `first` on, into exp(score - m') and updates m and l;
/// what was summed before is scaled by exp(m - m').
template <typename L>
PAR_INLINE void softmaxColumns(int64_t first, int64_t keys, Scores &scores, RunningSoftmax &running,
                               float *out, int64_t dim) {
  using Floats = typename L::Floats;
  const float lowest = -std::numeric_limits<float>::infinity();
  constexpr int vectors = 4;
  Floats highest[vectors], base[vectors], factor[vectors], sum[vectors];
  for (int j = 0; j < vectors; ++j)
    load(highest[j], running.highest + first + j * L::width);
  for (int64_t i = 0; i < keys; ++i)
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
  for (int64_t i = 0; i < keys; ++i)
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

/// out [dim][qTile] /= l, and lse = m + log l; a query without keys has 0 and -inf.
inline void finishRows(const RunningSoftmax &running, int64_t rows, int64_t dim, float *out, float *lse) {
  float factors[qTile];
  for (int64_t j = 0; j < qTile; ++j)
    factors[j] = running.sum[j] != 0 ? 1.0f / running.sum[j] : 1.0f;
  for (int64_t d = 0; d < dim; ++d)
    for (int64_t j = 0; j < qTile; ++j)
      out[d * qTile + j] *= factors[j];
  for (int64_t j = 0; j < rows; ++j)
    lse[j] = running.sum[j] != 0 ? running.highest[j] + std::log(running.sum[j])
                                 : -std::numeric_limits<float>::infinity();
}

/// lse and delta of every query of a block; what the lanes beyond its rows hold is finite.
struct QueryTerms {
  alignas(64) float lse[qTile], delta[qTile];
};

/// Elements of operands as numbers.
PAR_INLINE double numberOf(float value) { return double(value); }
PAR_INLINE double numberOf(uint16_t word) { return double(widen(word)); }

/// delta of rows: Σ out dout, in f64, as it is the small difference of larger terms that counts.
template <typename Element>
inline void deltaOfRows(const Element *out, const Element *dout, int64_t stride, int64_t rows, int64_t dim,
                        float *delta) {
  for (int64_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (int64_t d = 0; d < dim; ++d)
      sum += numberOf(out[i * stride + d]) * numberOf(dout[i * stride + d]);
    delta[i] = float(sum);
  }
}

/// One tile holds all keys.
inline bool hasAllKeys(const par_attention &what) { return what.k_rows <= kTile; }

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
PAR_INLINE void deltaOfTile(int64_t keys, const Scores &scores, const Scores &products, const float *keep,
                            QueryTerms &terms) {
  using Floats = typename L::Floats;
  constexpr int parts = 4; // sums of a part of the keys each: shorter sums, smaller errors
  for (int64_t j = 0; j < qTile; j += L::width) {
    Floats lse, sum[parts] = {}, weight[parts] = {};
    load(lse, terms.lse + j);
    for (int64_t i = 0; i < keys; ++i) {
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
template <typename L>
PAR_INLINE void backwardScores(int64_t keys, Scores &scores, Scores &products, const float *keep,
                               const QueryTerms &terms) {
  using Floats = typename L::Floats;
  for (int64_t j = 0; j < qTile; j += L::width) {
    Floats lse, delta;
    load(lse, terms.lse + j);
    load(delta, terms.delta + j);
    for (int64_t i = 0; i < keys; ++i) {
      int64_t at = i * qTile + j;
      Floats p, product, factor = Floats{} + 1.0f;
      probability<L>(scores + at, lse, p);
      load(product, products + at);
      if (keep)
        load(factor, keep + at);
      store(p * (product * factor - delta), products + at);
      store(p * factor, scores + at);
    }
  }
}

} // namespace par::cpu
#endif
