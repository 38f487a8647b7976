//===- Olmo2.cpp - OLMo 2 and 3: norms behind the branches, and of all heads together
//--------------------===//

#include "LayerPattern.h"
#include "par/Import/Family.h"

namespace mlir::par {

/// Makes a decoder of what both versions have, with the defaults of `Olmo2Config` and `Olmo3Config`.
static RotaryDecoder makeDecoder(ModelConfig &config) {
  config.vocab = 50304;
  config.maxPositions = 2048;
  config.hidden = 4096;
  RotaryDecoder decoder;
  decoder.layers = 32;
  decoder.norm.epsilon = 1e-5;
  decoder.paddingToken = 1;
  decoder.attention.heads = 32;
  decoder.feedForward.width = 11008;
  decoder.block.attentionNorm = decoder.block.feedForwardNorm = "";
  decoder.block.attentionOutputNorm = "post_attention_layernorm";
  decoder.block.feedForwardOutputNorm = "post_feedforward_layernorm";
  return decoder;
}

static void readHeads(ConfigReader &reader, RotaryDecoder &decoder) {
  decoder.readAttentionBias(reader);
  decoder.attention.headNorm = {HeadNorm::Over::AllHeads, decoder.norm};
  reader.absent("clip_qkv", "clips queries, keys and values");
}

static void readOlmo2(ConfigReader &reader, ModelConfig &config) {
  RotaryDecoder decoder = makeDecoder(config);
  decoder.read(reader, config);
  readHeads(reader, decoder);
  decoder.addLayers(config);
}

static void readOlmo3(ConfigReader &reader, ModelConfig &config) {
  RotaryDecoder decoder = makeDecoder(config);
  decoder.readButRotary(reader, config);
  readHeads(reader, decoder);
  // `rope_theta` is that of full layers alone, as in Transformers.
  RotaryOfKinds rotary;
  rotary.full.theta = rotary.windowed.theta = 500000;
  rotary = decoder.readRotaryOfKinds(reader, config, rotary);
  int64_t window = reader.size("sliding_window", 4096);
  LayerPattern pattern{"model_type", false, [](int64_t layer) { return layer % 4 != 3; }};
  decoder.addWindowedLayers(config, readWindows(reader, decoder.layers, pattern, window), &rotary);
}

const Family olmo2Family = {"olmo2", readOlmo2, "Olmo2ForCausalLM"};
const Family olmo3Family = {"olmo3", readOlmo3, "Olmo3ForCausalLM"};

} // namespace mlir::par
