//===- Attention.cpp - kinds of attention ---------------------------------------------------------------===//
#include "par/Import/Attention.h"
#include "par/Import/LayerBuilder.h"

#include <cmath>

using namespace mlir;
using namespace mlir::par;

double Scores::getScale(int64_t headDim) const {
  if (scalar != 0)
    return 1.0 / std::sqrt(scalar);
  return byHeadDim ? 1.0 / std::sqrt(headDim) : 1.0;
}

// Checkpoints know no keys that are newer than they are. So a newer member is mentioned only if it has
// another value than models had before it came.
void Scores::describe(KindDescription &kind) const {
  const auto &[window, byHeadDim, scalar, cap, byLayer, dropout] = *this;
  kind.number("sliding_window", window, window ? "window" + std::to_string(window) : "full");
  kind.number("scale_attn_weights", byHeadDim);
  if (scalar != 0)
    kind.number("query_pre_attn_scalar", scalar);
  if (cap != 0)
    kind.number("attn_logit_softcapping", cap);
  kind.number("scale_attn_by_inverse_layer_idx", byLayer);
  kind.detail("attention_dropout", dropout);
}

void HeadNorm::describe(KindDescription &kind) const {
  const auto &[over, norm] = *this;
  if (over == Over::None)
    return;
  kind.number("qk_norm", over == Over::Head ? "head" : "all_heads");
  kind.number("qk_norm_eps", norm.epsilon);
}

/// Queries and keys, normalised and rotated.
static std::pair<Value, Value> buildQueriesAndKeys(LayerBuilder &layer, const GroupedAttention &attention,
                                                   Value q, Value k, Value positions) {
  const HeadNorm &headNorm = attention.headNorm;
  if (headNorm.over != HeadNorm::Over::None) {
    bool isOfHead = headNorm.over == HeadNorm::Over::Head;
    q = layer.norm(q, "self_attn.q_norm", headNorm.norm, isOfHead ? "d" : "hgd");
    k = layer.norm(k, "self_attn.k_norm", headNorm.norm, isOfHead ? "d" : "hd");
    layer.setPlace("self_attn");
  }
  if (attention.rotary) {
    q = layer.rotary(q, positions, *attention.rotary);
    k = layer.rotary(k, positions, *attention.rotary);
  }
  return {q, k};
}

Value GroupedAttention::build(LayerBuilder &layer, Value x) const {
  layer.dimension('h', "kv_heads", kvHeads);
  layer.dimension('g', "group", heads / kvHeads);
  layer.dimension('d', "head_dim", headDim);
  // A map whose rows begin behind those of some heads.
  auto map = [&](int64_t headsBefore) {
    LinearMap result{queryKeyValueBias};
    if (isJoint)
      result.joint = {"self_attn.qkv_proj", headsBefore * headDim, (heads + 2 * kvHeads) * headDim};
    return result;
  };
  Value q = layer.linear("bse,hgde->bshgd", x, "self_attn.q_proj", map(0));
  Value k = layer.linear("bse,hde->bshd", x, "self_attn.k_proj", map(heads));
  Value v = layer.linear("bse,hde->bshd", x, "self_attn.v_proj", map(heads + kvHeads));
  layer.setPlace("self_attn");
  Value positions = layer.positions();
  std::tie(q, k) = buildQueriesAndKeys(layer, *this, q, k, positions);
  Value out = layer.attention(q, k, v, positions, scores);
  return layer.linear("bshgd,ehgd->bse", out, "self_attn.o_proj", {outputBias});
}

void GroupedAttention::describe(KindDescription &kind) const {
  const auto &[heads, kvHeads, headDim, queryKeyValueBias, outputBias, isJoint, headNorm, rotary, scores] =
      *this;
  kind.number("num_attention_heads", heads);
  kind.number("num_key_value_heads", kvHeads);
  kind.number("head_dim", headDim);
  kind.number("attention_bias", queryKeyValueBias);
  kind.number("attention_output_bias", outputBias);
  kind.detail("qkv_proj", isJoint);
  headNorm.describe(kind);
  if (rotary)
    rotary->describe(kind);
  else
    kind.number("rope", false, "nope");
  scores.describe(kind);
}
