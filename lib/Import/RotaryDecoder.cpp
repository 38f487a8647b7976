//===- RotaryDecoder.cpp - keys and parameters of Llama's relatives -------------------------------------===//

#include "par/Import/Family.h"

using namespace llvm;

namespace mlir::par {

static void readHeads(ConfigReader &reader, ModelConfig &config, const ModelConfig &absent) {
  config.heads = reader.size("num_attention_heads", absent.heads);
  // Zero in `absent`: as many as query heads.
  int64_t kvHeads = absent.kvHeads ? absent.kvHeads : config.heads;
  config.kvHeads = reader.size("num_key_value_heads", kvHeads);
  if (reader.isNull("num_key_value_heads"))
    config.kvHeads = config.heads;
  if (config.heads % config.kvHeads)
    reader.fail("num_key_value_heads",
                "'num_key_value_heads' is " + Twine(config.kvHeads) +
                    ", which does not divide 'num_attention_heads' = " + Twine(config.heads));
  std::optional<int64_t> headDim = reader.optionalSize("head_dim");
  if (!headDim && config.hidden % config.heads)
    reader.fail("num_attention_heads", "'num_attention_heads' is " + Twine(config.heads) +
                                           ", which does not divide 'hidden_size' = " + Twine(config.hidden) +
                                           ", and 'head_dim' is absent");
  config.headDim = headDim.value_or(config.hidden / config.heads);
  if (config.headDim % 2)
    reader.fail(headDim ? "head_dim" : "hidden_size",
                "the head dimension is " + Twine(config.headDim) +
                    ", expected an even number: rotary positions rotate pairs");
}

void readRotaryDecoder(ConfigReader &reader, ModelConfig &config, const ModelConfig &absent) {
  config.vocab = reader.size("vocab_size", absent.vocab);
  config.maxPositions = reader.size("max_position_embeddings", absent.maxPositions);
  config.hidden = reader.size("hidden_size", absent.hidden);
  config.layers = reader.size("num_hidden_layers", absent.layers, maxLayers);
  config.intermediate = reader.size("intermediate_size", absent.intermediate);
  readHeads(reader, config, absent);
  config.activation = reader.activation("hidden_act", "silu");
  config.norm = absent.norm;
  // Transformers has no key for the epsilon of a norm without parameters.
  config.normEpsilon =
      config.norm == Norm::Rms ? reader.epsilon("rms_norm_eps", absent.normEpsilon) : absent.normEpsilon;
  config.initializerRange = reader.nonNegative("initializer_range", 0.02);
  config.tied = reader.boolean("tie_word_embeddings", false);
  config.paddingToken = reader.row("pad_token_id", config.vocab, absent.paddingToken);
  config.attentionDropout = reader.probability("attention_dropout", 0.0);
  config.windows.assign(config.layers, 0);
  readRotary(reader, config);
  reader.only("rope_interleaved", false, "rotates neighbouring elements");
  // `pretraining_tp`: into how many parts the sums of projections were once split; Transformers 5 ignores it.
  reader.harmless({"is_llama_config", "max_sequence_length", "pretraining_tp"});
}

static std::vector<Parameter> attentionParameters(const ModelConfig &config) {
  int64_t e = config.hidden, k = config.kvHeads, d = config.headDim;
  int64_t g = config.heads / k, width = config.heads * d;
  double deviation = config.initializerRange;
  std::vector<Dimension> q{{"kv_heads", k}, {"group", g}, {"head_dim", d}};
  std::vector<Dimension> kv{{"kv_heads", k}, {"head_dim", d}};
  auto into = [&](std::vector<Dimension> dims) {
    dims.push_back({"embed", e});
    return dims;
  };
  std::vector<Parameter> result;
  auto project = [&](StringRef name, const std::vector<Dimension> &dims, int64_t size) {
    result.push_back(makeWeight(("self_attn." + name + ".weight").str(), into(dims), {size, e}, deviation));
    if (config.queryKeyValueBias)
      result.push_back(makeVector(("self_attn." + name + ".bias").str(), dims, InitKind::Zeros));
  };
  project("q_proj", q, width);
  project("k_proj", kv, k * d);
  project("v_proj", kv, k * d);
  // The file has [embed, heads·head_dim].
  std::vector<Dimension> o{{"embed", e}};
  o.insert(o.end(), q.begin(), q.end());
  result.push_back(makeWeight("self_attn.o_proj.weight", o, {e, width}, deviation));
  if (config.outputBias)
    result.push_back(makeVector("self_attn.o_proj.bias", {{"embed", e}}, InitKind::Zeros));
  return result;
}

static void addMlp(const ModelConfig &config, std::vector<Parameter> &block) {
  int64_t e = config.hidden, m = config.intermediate;
  auto project = [&](StringRef name, Dimension out, Dimension in) {
    block.push_back(makeWeight(("mlp." + name + ".weight").str(), {out, in}, {out.size, in.size},
                               config.initializerRange));
    if (config.mlpBias)
      block.push_back(makeVector(("mlp." + name + ".bias").str(), {out}, InitKind::Zeros));
  };
  project("gate_proj", {"mlp", m}, {"embed", e});
  project("up_proj", {"mlp", m}, {"embed", e});
  project("down_proj", {"embed", e}, {"mlp", m});
}

void addRotaryDecoderParameters(const ModelConfig &config, ModelParameters &model) {
  int64_t v = config.vocab, e = config.hidden;
  double deviation = config.initializerRange;
  auto addNorm = [&](StringRef name, std::vector<Parameter> &layer) {
    if (config.norm == Norm::Rms)
      layer.push_back(makeVector(name, {{"embed", e}}, InitKind::Ones));
  };
  model.embed = {makeWeight("embed_tokens.weight", {{"vocab", v}, {"embed", e}}, {v, e}, deviation)};
  model.embed.front().zeroRow = config.paddingToken;
  setNames(model.embed, "", "model.");

  std::vector<Parameter> block;
  addNorm("input_layernorm.weight", block);
  for (Parameter &parameter : attentionParameters(config))
    block.push_back(std::move(parameter));
  addNorm("post_attention_layernorm.weight", block);
  addMlp(config, block);
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    model.blocks[layer] = block;
    setNames(model.blocks[layer], "layers." + Twine(layer) + ".", "model.");
  }

  addNorm("norm.weight", model.head);
  setNames(model.head, "", "model.");
  if (config.tied)
    return;
  model.head.push_back(makeWeight("lm_head.weight", {{"vocab", v}, {"embed", e}}, {v, e}, deviation));
  setNames(model.head.back(), "", "");
}

} // namespace mlir::par
