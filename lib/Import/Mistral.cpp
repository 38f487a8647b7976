//===- Mistral.cpp - Mistral: Llama with a sliding window -----------------------------------------------===//

#include "par/Import/Family.h"

namespace mlir::par {

static void read(ConfigReader &reader, ModelConfig &config) {
  // `MistralConfig`'s defaults.
  config.vocab = 32000;
  config.maxPositions = 4096 * 32;
  config.hidden = 4096;
  RotaryDecoder decoder;
  decoder.layers = 32;
  decoder.attention.heads = 32;
  decoder.attention.kvHeads = 8;
  decoder.feedForward.width = 14336;
  decoder.read(reader, config);
  // Absent means 4096, null means no window.
  bool unlimited = reader.isNull("sliding_window");
  int64_t window = reader.size("sliding_window", 4096);
  decoder.attention.scores.window = unlimited ? 0 : window;
  decoder.addLayers(config);
}

const Family mistralFamily = {"mistral", read, "MistralForCausalLM"};

} // namespace mlir::par
