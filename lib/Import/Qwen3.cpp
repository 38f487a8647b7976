//===- Qwen3.cpp - Qwen 3: Qwen 2 with norms of heads in place of biases --------------------------------===//

#include "LayerPattern.h"
#include "par/Import/Family.h"

namespace mlir::par {

static void read(ConfigReader &reader, ModelConfig &config) {
  // `Qwen3Config`'s defaults. Its heads are 128 wide whatever the hidden size is.
  config.vocab = 151936;
  config.maxPositions = 32768;
  config.hidden = 4096;
  RotaryDecoder decoder;
  decoder.layers = 32;
  decoder.attention.heads = 32;
  decoder.attention.kvHeads = 32;
  decoder.attention.headDim = 128;
  decoder.feedForward.width = 22016;
  decoder.read(reader, config);
  bool bias = reader.boolean("attention_bias", false);
  decoder.attention.queryKeyValueBias = decoder.attention.outputBias = bias;
  decoder.attention.headNorm = {HeadNorm::Over::Head, decoder.norm};
  std::vector<int64_t> windows = readQwenWindows(reader, decoder.layers);
  decoder.addLayers(config, [&](int64_t layer, BlockLayer &block) {
    GroupedAttention attention = decoder.attention;
    attention.scores.window = windows[layer];
    block.attention = share(attention);
  });
}

const Family qwen3Family = {"qwen3", read};

} // namespace mlir::par
