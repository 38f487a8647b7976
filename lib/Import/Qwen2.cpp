//===- Qwen2.cpp - Qwen 2 and 2.5: Llama with query, key, value biases ----------------------------------===//

#include "LayerPattern.h"
#include "par/Import/Family.h"

namespace mlir::par {

static void read(ConfigReader &reader, ModelConfig &config) {
  // `Qwen2Config`'s defaults.
  config.vocab = 151936;
  config.maxPositions = 32768;
  config.hidden = 4096;
  RotaryDecoder decoder;
  decoder.layers = 32;
  decoder.attention.heads = 32;
  decoder.attention.kvHeads = 32;
  decoder.feedForward.width = 22016;
  decoder.read(reader, config);
  decoder.attention.queryKeyValueBias = true;
  std::vector<int64_t> windows = readQwenWindows(reader, decoder.layers);
  // Of the sparse and multimodal relatives, left over in some configs.
  reader.only("use_mrope", false, "uses multimodal rotary positions");
  decoder.addLayers(config, [&](int64_t layer, BlockLayer &block) {
    GroupedAttention attention = decoder.attention;
    attention.scores.window = windows[layer];
    block.attention = share(attention);
  });
}

const Family qwen2Family = {"qwen2", read};

} // namespace mlir::par
