#include "cpu/AttentionTile.h"
#include "cpu/Context.h"
#include "cpu/Multiply.h"
#include "cpu/Simd.h"

#include <cmath>
#include <limits>

// With P = exp(S - lse) recomputed per tile, Z the dropout factors (1 without) and delta = rowsum(dout *
// out):
//   dV = (P∘Z)ᵀ dO,   dP = (dO Vᵀ)∘Z,   dS = P∘(dP - delta)·scale,   dQ = dS K,   dK = dSᵀ Q
// (Dao et al., "FlashAttention", 2022, algorithm 4; delta holds under dropout as O = (P∘Z) V).

namespace par::cpu {

namespace {
struct BackwardBuffers {
  const float *out, *lse, *dout;
  float *dq, *dk, *dv, *delta;
};
} // namespace

/// scores → P∘Z and products → dS, both in place. `keep` is null without dropout.
PAR_CLONES void backwardRow(float *scores, float *products, const float *keep, int64_t width, float lse,
                            float delta, float scale) {
  if (lse == -std::numeric_limits<float>::infinity()) { // a query that sees no key
    for (int64_t j = 0; j < width; ++j)
      scores[j] = products[j] = 0;
    return;
  }
  if (keep) {
    for (int64_t j = 0; j < width; ++j) {
      float p = fastExp(scores[j] - lse);
      products[j] = p * (products[j] * keep[j] - delta) * scale;
      scores[j] = p * keep[j];
    }
    return;
  }
  for (int64_t j = 0; j < width; ++j) {
    float p = fastExp(scores[j] - lse);
    products[j] = p * (products[j] - delta) * scale;
    scores[j] = p;
  }
}

/// delta of a row all of whose keys are at hand: Σ P∘(dP∘Z) / Σ P of the very P that dS is made of, so that
/// dS adds up to zero but for its own rounding.
PAR_CLONES float deltaOfTile(float *scores, const float *products, const float *keep, int64_t width,
                             float lse) {
  if (lse == -std::numeric_limits<float>::infinity())
    return 0;
  float sums[16] = {0}, weights[16] = {0};
  for (int64_t j = 0; j < width; j += 16)
    for (int i = 0; i < 16; ++i) {
      float p = fastExp(scores[j + i] - lse);
      // Columns beyond the keys have P = 0 and any product.
      float term = p * products[j + i] * (keep ? keep[j + i] : 1.0f);
      sums[i] += p > 0 ? term : 0.0f;
      weights[i] += p;
    }
  double sum = 0, weight = 0;
  for (int i = 0; i < 16; ++i)
    sum += double(sums[i]), weight += double(weights[i]);
  return weight > 0 ? float(sum / weight) : 0.0f;
}

/// delta of all rows of one head. Sums in f64: it is the small difference of larger terms that counts.
static void deltaOf(const AttentionView &attention, const Head &head, const BackwardBuffers &buffers) {
  const par_attention &what = attention.what;
  for (int64_t i = 0; i < what.q_rows; ++i) {
    int64_t at = head.inQueries(attention, i, attention.outStride());
    double sum = 0;
    for (int64_t d = 0; d < what.head_dim; ++d)
      sum += double(buffers.out[at + d]) * double(buffers.dout[at + d]);
    buffers.delta[head.lseOffset(attention) + i] = float(sum);
  }
}

/// One tile holds all keys.
static bool hasAllKeys(const par_attention &what) { return what.k_rows <= kTile; }

static void backwardTile(const AttentionView &attention, const Head &head, const Tile &tile,
                         Visibility visibility, const BackwardBuffers &buffers) {
  alignas(64) thread_local Scores scores, products, keep;
  const par_attention &what = attention.what;
  int64_t outStride = attention.outStride(), d = what.head_dim;
  const float *dout = buffers.dout + head.inQueries(attention, tile.q, outStride);
  const float *q = attention.q + head.inQueries(attention, tile.q, what.q_stride);
  const float *k = attention.k + head.inKeys(attention, tile.k, what.k_stride);
  const float *v = attention.v + head.inKeys(attention, tile.k, what.v_stride);
  int64_t lseAt = head.lseOffset(attention) + tile.q;
  scoreTile(attention, head, tile, visibility, scores);
  multiply(false, true, tile.rows, tile.keys, d, 1.0f, dout, outStride, v, what.v_stride, 0.0f, products,
           kTile);
  if (what.dropout > 0)
    dropoutTile(attention, head, tile, keep);
  for (int64_t i = 0; i < tile.rows; ++i) {
    float *s = scores + i * kTile, *p = products + i * kTile, lse = buffers.lse[lseAt + i];
    const float *z = what.dropout > 0 ? keep + i * kTile : nullptr;
    float delta = hasAllKeys(what) ? deltaOfTile(s, p, z, tile.width(), lse) : buffers.delta[lseAt + i];
    backwardRow(s, p, z, tile.keys, lse, delta, what.scale);
  }
  if (buffers.dv)
    multiply(true, false, tile.keys, d, tile.rows, 1.0f, scores, kTile, dout, outStride, 1.0f,
             buffers.dv + head.inKeys(attention, tile.k, what.dv_stride), what.dv_stride);
  if (buffers.dk)
    multiply(true, false, tile.keys, d, tile.rows, 1.0f, products, kTile, q, what.q_stride, 1.0f,
             buffers.dk + head.inKeys(attention, tile.k, what.dk_stride), what.dk_stride);
  if (buffers.dq)
    multiply(false, false, tile.rows, d, tile.keys, 1.0f, products, kTile, k, what.k_stride, 1.0f,
             buffers.dq + head.inQueries(attention, tile.q, what.dq_stride), what.dq_stride);
}

/// Zeros in `width` elements of every row.
static void clear(float *gradient, int64_t rows, int64_t width, int64_t stride) {
  for (int64_t row = 0; gradient && row < rows; ++row)
    std::fill_n(gradient + row * stride, width, 0.0f);
}

static void backwardHead(const AttentionView &attention, const Head &head, const BackwardBuffers &buffers) {
  const par_attention &what = attention.what;
  if (!hasAllKeys(what))
    deltaOf(attention, head, buffers);
  for (int64_t q = 0; q < what.q_rows; q += qTile)
    for (int64_t k = 0; k < what.k_rows; k += kTile) {
      Tile tile{q, std::min(qTile, what.q_rows - q), k, std::min(kTile, what.k_rows - k)};
      Visibility visibility = visibilityOf(attention, tile);
      if (visibility != Visibility::none)
        backwardTile(attention, head, tile, visibility, buffers);
    }
}

} // namespace par::cpu

extern "C" void par_attention_backward(void *context, void *description, void *bufferList) {
  using namespace par::cpu;
  const par_attention &what = *static_cast<par_attention *>(description);
  void *const *list = static_cast<void *const *>(bufferList);
  auto floats = [&](int i) { return static_cast<float *>(list[i]); };
  AttentionView attention(what, list);
  BackwardBuffers buffers{floats(9), floats(10), floats(11), floats(12), floats(13), floats(14), floats(15)};
  int64_t queries = what.batch * what.q_rows, keys = what.batch * what.k_rows,
          width = what.kv_heads * what.head_dim;
  clear(buffers.dq, queries, attention.outStride(), what.dq_stride);
  clear(buffers.dk, keys, width, what.dk_stride);
  clear(buffers.dv, keys, width, what.dv_stride);
  beat(context);
  // All query heads of one kv head add to the same dK and dV.
  int64_t kvHeads = what.batch * what.kv_heads;
  runParts(poolOf(context), kvHeads, [&](int64_t part, int64_t parts) {
    for (int64_t item = part; item < kvHeads; item += parts)
      for (int64_t g = 0; g < what.group; ++g)
        backwardHead(attention, {item / what.kv_heads, item % what.kv_heads, g}, buffers);
  });
}
