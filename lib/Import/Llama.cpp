//===- Llama.cpp - Llama 1 to 3.2 -----------------------------------------------------------------------===//

#include "par/Import/Family.h"

namespace mlir::par {

static void read(ConfigReader &reader, ModelConfig &config) {
  // `LlamaConfig`'s defaults.
  config.vocab = 32000;
  config.maxPositions = 2048;
  config.hidden = 4096;
  RotaryDecoder decoder;
  decoder.layers = 32;
  decoder.attention.heads = 32;
  decoder.feedForward.width = 11008;
  decoder.read(reader, config);
  decoder.readAttentionBias(reader);
  decoder.feedForward.bias = reader.boolean("mlp_bias", false);
  reader.absent("sliding_window", "limits attention to a window");
  reader.only("use_sliding_window", false, "limits attention to a window");
  decoder.addLayers(config);
}

const Family llamaFamily = {"llama", read, "LlamaForCausalLM"};

} // namespace mlir::par
