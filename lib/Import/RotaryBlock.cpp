//===- RotaryBlock.cpp - what the layers of Llama's relatives compute -----------------------------------===//
#include "par/Import/Family.h"

namespace mlir::par {

Value buildRotaryEmbed(LayerBuilder &layer, Value tokens) {
  return layer.embedding(tokens, "embed_tokens", layer.getConfig().paddingToken);
}

static Value buildAttention(LayerBuilder &layer, Value x, int64_t window) {
  Value q = layer.linear("bse,hgde->bshgd", x, "self_attn.q_proj");
  Value k = layer.linear("bse,hde->bshd", x, "self_attn.k_proj");
  Value v = layer.linear("bse,hde->bshd", x, "self_attn.v_proj");
  layer.setPlace("self_attn");
  Value positions = layer.positions();
  q = layer.rotary(q, positions);
  k = layer.rotary(k, positions);
  Value out = layer.attention(q, k, v, positions, window);
  return layer.linear("bshgd,ehgd->bse", out, "self_attn.o_proj");
}

static Value buildMlp(LayerBuilder &layer, Value x) {
  Value gate = layer.linear("bse,me->bsm", x, "mlp.gate_proj");
  layer.setPlace("mlp.act_fn");
  gate = layer.activation(gate);
  Value up = layer.linear("bse,me->bsm", x, "mlp.up_proj");
  layer.setPlace("mlp");
  return layer.linear("bsm,em->bse", layer.multiply(gate, up), "mlp.down_proj");
}

Value buildRotaryBlock(LayerBuilder &layer, Value x, int64_t window) {
  x = layer.add(x, buildAttention(layer, layer.norm(x, "input_layernorm"), window));
  return layer.add(x, buildMlp(layer, layer.norm(x, "post_attention_layernorm")));
}

Value buildRotaryHead(LayerBuilder &layer, Value x) {
  return layer.linear("bse,ve->bsv", layer.norm(x, "norm"), "lm_head");
}

} // namespace mlir::par
