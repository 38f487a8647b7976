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

/// delta of all rows of one head. Sums in f64: it is the small difference of larger terms that counts.
static void deltaOf(const AttentionView &attention, const Head &head, const BackwardBuffers &buffers) {
  const par_attention &what = attention.what;
  for (int64_t i = 0; i < what.q_rows; ++i) {
    int64_t at = head.qOffset(attention) + i * attention.qStride();
    double sum = 0;
    for (int64_t d = 0; d < what.head_dim; ++d)
      sum += double(buffers.out[at + d]) * double(buffers.dout[at + d]);
    buffers.delta[head.lseOffset(attention) + i] = float(sum);
  }
}

static void backwardTile(const AttentionView &attention, const Head &head, const Tile &tile,
                         Visibility visibility, const BackwardBuffers &buffers) {
  alignas(64) thread_local Scores scores, products, keep;
  const par_attention &what = attention.what;
  int64_t qStride = attention.qStride(), kStride = attention.kStride(), d = what.head_dim;
  int64_t qAt = head.qOffset(attention) + tile.q * qStride, kAt = head.kOffset(attention) + tile.k * kStride;
  int64_t lseAt = head.lseOffset(attention) + tile.q;
  scoreTile(attention, head, tile, visibility, scores);
  multiply(false, true, tile.rows, tile.keys, d, 1.0f, buffers.dout + qAt, qStride, attention.v + kAt,
           kStride, 0.0f, products, kTile);
  if (what.dropout > 0)
    dropoutTile(attention, head, tile, keep);
  for (int64_t i = 0; i < tile.rows; ++i)
    backwardRow(scores + i * kTile, products + i * kTile, what.dropout > 0 ? keep + i * kTile : nullptr,
                tile.keys, buffers.lse[lseAt + i], buffers.delta[lseAt + i], what.scale);
  if (buffers.dv)
    multiply(true, false, tile.keys, d, tile.rows, 1.0f, scores, kTile, buffers.dout + qAt, qStride, 1.0f,
             buffers.dv + kAt, kStride);
  if (buffers.dk)
    multiply(true, false, tile.keys, d, tile.rows, 1.0f, products, kTile, attention.q + qAt, qStride, 1.0f,
             buffers.dk + kAt, kStride);
  if (buffers.dq)
    multiply(false, false, tile.rows, d, tile.keys, 1.0f, products, kTile, attention.k + kAt, kStride, 1.0f,
             buffers.dq + qAt, qStride);
}

static void backwardHead(const AttentionView &attention, const Head &head, const BackwardBuffers &buffers) {
  const par_attention &what = attention.what;
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
  if (buffers.dq)
    std::fill_n(buffers.dq, what.batch * what.q_rows * attention.qStride(), 0.0f);
  for (float *gradient : {buffers.dk, buffers.dv})
    if (gradient)
      std::fill_n(gradient, what.batch * what.k_rows * attention.kStride(), 0.0f);
  beat(context);
  // All query heads of one kv head add to the same dK and dV.
  int64_t kvHeads = what.batch * what.kv_heads;
  runParts(poolOf(context), kvHeads, [&](int64_t part, int64_t parts) {
    for (int64_t item = part; item < kvHeads; item += parts)
      for (int64_t g = 0; g < what.group; ++g)
        backwardHead(attention, {item / what.kv_heads, item % what.kv_heads, g}, buffers);
  });
}
