//===- Attention.cpp - kinds of attention ---------------------------------------------------------------===//
#include "par/Import/Attention.h"
#include "par/Import/LayerBuilder.h"

using namespace mlir;
using namespace mlir::par;

void Scores::describe(KindDescription &kind) const {
  const auto &[window, byHeadDim, byLayer, dropout] = *this;
  kind.number("sliding_window", window, window ? "window" + std::to_string(window) : "full");
  kind.number("scale_attn_weights", byHeadDim);
  kind.number("scale_attn_by_inverse_layer_idx", byLayer);
  kind.detail("attention_dropout", dropout);
}

Value GroupedAttention::build(LayerBuilder &layer, Value x) const {
  layer.dimension('h', "kv_heads", kvHeads);
  layer.dimension('g', "group", heads / kvHeads);
  layer.dimension('d', "head_dim", headDim);
  Value q = layer.linear("bse,hgde->bshgd", x, "self_attn.q_proj", {queryKeyValueBias});
  Value k = layer.linear("bse,hde->bshd", x, "self_attn.k_proj", {queryKeyValueBias});
  Value v = layer.linear("bse,hde->bshd", x, "self_attn.v_proj", {queryKeyValueBias});
  layer.setPlace("self_attn");
  Value positions = layer.positions();
  q = layer.rotary(q, positions, rotary);
  k = layer.rotary(k, positions, rotary);
  Value out = layer.attention(q, k, v, positions, scores);
  return layer.linear("bshgd,ehgd->bse", out, "self_attn.o_proj", {outputBias});
}

void GroupedAttention::describe(KindDescription &kind) const {
  const auto &[heads, kvHeads, headDim, queryKeyValueBias, outputBias, rotary, scores] = *this;
  kind.number("num_attention_heads", heads);
  kind.number("num_key_value_heads", kvHeads);
  kind.number("head_dim", headDim);
  kind.number("attention_bias", queryKeyValueBias);
  kind.number("attention_output_bias", outputBias);
  rotary.describe(kind);
  scores.describe(kind);
}
