//===- Gpt2.cpp - GPT-2: learned positions, LayerNorm, fused QKV ----------------------------------------===//

#include "par/Import/Family.h"

#include <cmath>

using namespace llvm;

namespace mlir::par {

static void readSizes(ConfigReader &reader, ModelConfig &config) {
  // The names that every configuration class understands.
  reader.alias("n_positions", "max_position_embeddings");
  reader.alias("n_embd", "hidden_size");
  reader.alias("n_layer", "num_hidden_layers");
  reader.alias("n_head", "num_attention_heads");
  config.vocab = reader.size("vocab_size", 50257);
  config.maxPositions = reader.size("n_positions", 1024);
  config.hidden = reader.size("n_embd", 768);
  config.layers = reader.size("n_layer", 12, maxLayers);
  config.heads = config.kvHeads = reader.size("n_head", 12);
  config.intermediate = reader.size("n_inner", 4 * config.hidden);
  if (config.hidden % config.heads)
    reader.fail("n_head", "'n_head' is " + Twine(config.heads) +
                              ", which does not divide 'n_embd' = " + Twine(config.hidden));
  config.headDim = config.hidden / config.heads;
}

static void read(ConfigReader &reader, ModelConfig &config) {
  readSizes(reader, config);
  config.activation = reader.activation("activation_function", "gelu_new");
  config.norm = Norm::Layer;
  config.normEpsilon = reader.epsilon("layer_norm_epsilon", 1e-5);
  config.initializerRange = reader.nonNegative("initializer_range", 0.02);
  config.tied = reader.boolean("tie_word_embeddings", true);
  config.embeddingDropout = reader.probability("embd_pdrop", 0.1);
  config.attentionDropout = reader.probability("attn_pdrop", 0.1);
  config.residualDropout = reader.probability("resid_pdrop", 0.1);
  config.queryKeyValueBias = config.outputBias = config.mlpBias = true;
  config.windows.assign(config.layers, 0);

  config.scaleByHeadDim = reader.boolean("scale_attn_weights", true);
  config.scaleByLayer = reader.boolean("scale_attn_by_inverse_layer_idx", false);
  // Scores in f32, which par's are in any case. Its embedding has no row for padding.
  reader.harmless({"reorder_and_upcast_attn", "pad_token_id"});
  // `n_ctx` is a former name that Transformers no longer reads; the summary is
  // a head for other tasks; the rest is left over from older versions.
  reader.harmless({"n_ctx", "n_special", "output_past", "predict_special_tokens", "summary_activation",
                   "summary_first_dropout", "summary_proj_to_labels", "summary_type", "summary_use_proj"});
}

static Parameter transposed(Parameter parameter, std::vector<int64_t> order) {
  parameter.permutation = std::move(order);
  return parameter;
}

static std::vector<Parameter> blockParameters(const ModelConfig &config) {
  int64_t e = config.hidden, h = config.heads, d = config.headDim;
  int64_t m = config.intermediate;
  double deviation = config.initializerRange;
  // The residual stream sums 2·layers projections (GPT-2, section 2.3).
  double residual = deviation / std::sqrt(2.0 * config.layers);
  InitKind zeros = InitKind::Zeros, ones = InitKind::Ones;
  // Conv1D stores [in, out].
  return {
      makeVector("ln_1.weight", {{"embed", e}}, ones),
      makeVector("ln_1.bias", {{"embed", e}}, zeros),
      transposed(makeWeight("attn.c_attn.weight", {{"qkv", 3}, {"heads", h}, {"head_dim", d}, {"embed", e}},
                            {e, 3 * h * d}, deviation),
                 {3, 0, 1, 2}),
      makeVector("attn.c_attn.bias", {{"qkv", 3}, {"heads", h}, {"head_dim", d}}, zeros),
      makeWeight("attn.c_proj.weight", {{"heads", h}, {"head_dim", d}, {"embed", e}}, {h * d, e}, residual),
      makeVector("attn.c_proj.bias", {{"embed", e}}, zeros),
      makeVector("ln_2.weight", {{"embed", e}}, ones),
      makeVector("ln_2.bias", {{"embed", e}}, zeros),
      makeWeight("mlp.c_fc.weight", {{"embed", e}, {"mlp", m}}, {e, m}, deviation),
      makeVector("mlp.c_fc.bias", {{"mlp", m}}, zeros),
      makeWeight("mlp.c_proj.weight", {{"mlp", m}, {"embed", e}}, {m, e}, residual),
      makeVector("mlp.c_proj.bias", {{"embed", e}}, zeros),
  };
}

static void addParameters(const ModelConfig &config, ModelParameters &model) {
  int64_t v = config.vocab, e = config.hidden, p = config.maxPositions;
  double deviation = config.initializerRange;
  model.embed = {makeWeight("wte.weight", {{"vocab", v}, {"embed", e}}, {v, e}, deviation),
                 makeWeight("wpe.weight", {{"positions", p}, {"embed", e}}, {p, e}, deviation)};
  std::vector<Parameter> block = blockParameters(config);
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    model.blocks[layer] = block;
    setNames(model.blocks[layer], "h." + Twine(layer) + ".", "transformer.");
  }
  setNames(model.embed, "", "transformer.");
  model.head = {makeVector("ln_f.weight", {{"embed", e}}, InitKind::Ones),
                makeVector("ln_f.bias", {{"embed", e}}, InitKind::Zeros)};
  setNames(model.head, "", "transformer.");
  if (config.tied)
    return;
  model.head.push_back(makeWeight("lm_head.weight", {{"vocab", v}, {"embed", e}}, {v, e}, deviation));
  setNames(model.head.back(), "", "");
}

static Value buildEmbed(LayerBuilder &layer, Value tokens) {
  Value x = layer.embedding(tokens, "wte");
  Value positions = layer.embedding(layer.positions(), "wpe");
  x = layer.add(x, layer.expand(positions, {layer.getBatch(), layer.getSeq(), layer.getConfig().hidden}));
  layer.setPlace("drop");
  return layer.dropout(x, layer.getConfig().embeddingDropout);
}

static Value buildAttention(LayerBuilder &layer, Value x, int64_t window) {
  int64_t b = layer.getBatch(), s = layer.getSeq();
  int64_t h = layer.getConfig().heads, d = layer.getConfig().headDim;
  Value qkv = layer.linear("bse,thde->bsthd", x, "attn.c_attn");
  auto part = [&](int64_t t, ArrayRef<int64_t> shape) {
    Value one = layer.slice(qkv, {0, 0, t, 0, 0}, {b, s, 1, h, d});
    return layer.reshape(one, shape);
  };
  layer.setPlace("attn");
  // Each query head has its own key and value: groups of one.
  Value q = part(0, {b, s, h, 1, d});
  Value k = part(1, {b, s, h, d}), v = part(2, {b, s, h, d});
  Value out = layer.attention(q, k, v, layer.positions(), window);
  return layer.linear("bshd,hde->bse", layer.reshape(out, {b, s, h, d}), "attn.c_proj");
}

static Value buildBlock(LayerBuilder &layer, Value x, int64_t window) {
  double p = layer.getConfig().residualDropout;
  Value out = buildAttention(layer, layer.norm(x, "ln_1"), window);
  x = layer.add(x, layer.dropout(out, p, DropoutSlot::AttentionOutput));
  out = layer.linear("bse,em->bsm", layer.norm(x, "ln_2"), "mlp.c_fc");
  layer.setPlace("mlp.act");
  out = layer.linear("bsm,me->bse", layer.activation(out), "mlp.c_proj");
  return layer.add(x, layer.dropout(out, p, DropoutSlot::Mlp));
}

static Value buildHead(LayerBuilder &layer, Value x) {
  return layer.linear("bse,ve->bsv", layer.norm(x, "ln_f"), "lm_head");
}

const Family gpt2Family = {"gpt2", read, addParameters, buildEmbed, buildBlock, buildHead};

} // namespace mlir::par
