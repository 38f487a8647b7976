//===- Olmo.cpp - OLMo 1: Llama with norms that have no parameters --------------------------------------===//

#include "par/Import/Family.h"

namespace mlir::par {

static void read(ConfigReader &reader, ModelConfig &config) {
  // `OlmoConfig`'s defaults. The norm's epsilon is fixed.
  config.vocab = 50304;
  config.maxPositions = 2048;
  config.hidden = 4096;
  RotaryDecoder decoder;
  decoder.layers = 32;
  decoder.norm = {Norm::Type::Standardize, 1e-5};
  decoder.paddingToken = 1;
  decoder.attention.heads = 32;
  decoder.feedForward.width = 11008;
  decoder.read(reader, config);
  decoder.readAttentionBias(reader);
  reader.absent("clip_qkv", "clips queries, keys and values");
  decoder.addLayers(config);
}

const Family olmoFamily = {"olmo", read, "OlmoForCausalLM"};

} // namespace mlir::par
