//===- Qwen2.cpp - Qwen 2 and 2.5: Llama with query, key, value biases ----------------------------------===//

#include "par/Import/Family.h"

using namespace llvm;

namespace mlir::par {

/// The window of each layer: `layer_types` as Transformers 5 writes it, else those from `max_window_layers`
/// on have one.
static std::vector<int64_t> readWindows(ConfigReader &reader, int64_t layers) {
  std::vector<int64_t> windows(layers, 0);
  bool used = reader.boolean("use_sliding_window", false);
  int64_t window = reader.isNull("sliding_window") ? 0 : reader.size("sliding_window", 4096);
  // Zero is common: every layer has the window. Any number is compared, as Transformers does.
  double first = reader.nonNegative("max_window_layers", 28);
  std::vector<std::string> types = reader.texts("layer_types");
  if (!types.empty() && types.size() != size_t(layers))
    reader.fail("layer_types",
                "'layer_types' has " + Twine(types.size()) + " entries for " + Twine(layers) + " layers");
  types.resize(types.empty() ? 0 : layers, "full_attention");
  for (int64_t layer = 0; layer < layers; ++layer) {
    bool sliding = static_cast<double>(layer) >= first;
    if (!types.empty()) {
      sliding = types[layer] == "sliding_attention";
      if (!sliding && types[layer] != "full_attention")
        reader.fail("layer_types", "'layer_types' has \"" + types[layer] +
                                       "\", which is not supported; supported are "
                                       "full_attention and sliding_attention");
    }
    windows[layer] = used && sliding ? window : 0;
  }
  return windows;
}

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
  std::vector<int64_t> windows = readWindows(reader, decoder.layers);
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
