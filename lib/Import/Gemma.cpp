//===- Gemma.cpp - Gemma 2 and 3: four norms per layer, caps, windows in most layers ----------------===//

#include "LayerPattern.h"
#include "par/Import/Family.h"

#include <cmath>

namespace mlir::par {

/// Makes a decoder of what both versions have, with the defaults of `Gemma2Config` and `Gemma3TextConfig`.
static RotaryDecoder makeDecoder() {
  RotaryDecoder decoder;
  decoder.layers = 26;
  decoder.norm = {Norm::Type::Rms, 1e-6, /*offset=*/1};
  decoder.tied = true;
  decoder.paddingToken = 0;
  decoder.attention.heads = 8;
  decoder.attention.kvHeads = 4;
  decoder.attention.headDim = 256;
  decoder.feedForward.width = 9216;
  decoder.activationKey = "hidden_activation";
  decoder.activation = "gelu_pytorch_tanh";
  decoder.block.attentionOutputNorm = "post_attention_layernorm";
  decoder.block.feedForwardNorm = "pre_feedforward_layernorm";
  decoder.block.feedForwardOutputNorm = "post_feedforward_layernorm";
  return decoder;
}

/// Reads the keys that decide scores and logits. `scores` and `logits` are the caps where the config says
/// nothing, 0 for none.
static void readScores(ConfigReader &reader, const ModelConfig &config, double scores, double logits,
                       RotaryDecoder &decoder) {
  auto cap = [&](StringRef key, double absent) {
    std::optional<double> given = reader.optionalPositive(key);
    return reader.isNull(key) ? 0 : given.value_or(absent);
  };
  decoder.attention.scores.cap = cap("attn_logit_softcapping", scores);
  decoder.logitCap = cap("final_logit_softcapping", logits);
  decoder.attention.scores.scalar = reader.positive("query_pre_attn_scalar", 256);
  decoder.readAttentionBias(reader);
  decoder.embeddingScale = std::sqrt(static_cast<double>(config.hidden));
  reader.only("use_bidirectional_attention", false, "lets tokens see later ones");
  // The class reads `hidden_activation` alone; the cache is for generation, and par has its own.
  reader.harmless({"hidden_act", "cache_implementation", "sliding_window_size"});
}

static void readGemma2(ConfigReader &reader, ModelConfig &config) {
  config.vocab = 256000;
  config.maxPositions = 8192;
  config.hidden = 2304;
  RotaryDecoder decoder = makeDecoder();
  decoder.read(reader, config);
  readScores(reader, config, 50, 30, decoder);
  int64_t window = reader.size("sliding_window", 4096);
  LayerPattern pattern{"model_type", false, [](int64_t layer) { return layer % 2 == 0; }};
  decoder.addWindowedLayers(config, readWindows(reader, decoder.layers, pattern, window));
}

static void readGemma3(ConfigReader &reader, ModelConfig &config) {
  config.vocab = 262208;
  config.maxPositions = 131072;
  config.hidden = 2304;
  RotaryDecoder decoder = makeDecoder();
  decoder.readButRotary(reader, config);
  readScores(reader, config, 0, 0, decoder);
  decoder.attention.headNorm = {HeadNorm::Over::Head, decoder.norm};
  RotaryOfKinds rotary;
  rotary.full.theta = 1000000;
  rotary.windowed.theta = reader.positive("rope_local_base_freq", 10000);
  rotary = decoder.readRotaryOfKinds(reader, config, rotary);
  int64_t window = reader.size("sliding_window", 4096);
  constexpr int64_t usual = 6;
  // Transformers 5 writes the pattern with an underscore, beside the list of types that it made of it.
  reader.alias("sliding_window_pattern", "_sliding_window_pattern");
  int64_t interval = reader.size("sliding_window_pattern", usual);
  LayerPattern pattern{"sliding_window_pattern", interval != usual,
                       [&](int64_t layer) { return (layer + 1) % interval != 0; }};
  decoder.addWindowedLayers(config, readWindows(reader, decoder.layers, pattern, window), &rotary);
}

const Family gemma2Family = {"gemma2", readGemma2, "Gemma2ForCausalLM"};
const Family gemma3TextFamily = {"gemma3_text", readGemma3, "Gemma3ForCausalLM"};

} // namespace mlir::par
