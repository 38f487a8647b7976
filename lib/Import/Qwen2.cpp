//===- Qwen2.cpp - Qwen 2 and 2.5: Llama with query, key, value biases ----------------------------------===//

#include "par/Import/Family.h"

using namespace llvm;

namespace mlir::par {

/// Which layers have a window: `layer_types` as Transformers 5 writes it, else
/// those from `max_window_layers` on.
static void readWindows(ConfigReader &reader, ModelConfig &config) {
  bool used = reader.boolean("use_sliding_window", false);
  int64_t window = reader.isNull("sliding_window") ? 0 : reader.size("sliding_window", 4096);
  // Zero is common: every layer has the window. Any number is compared, as Transformers does.
  double first = reader.nonNegative("max_window_layers", 28);
  std::vector<std::string> types = reader.texts("layer_types");
  if (!types.empty() && types.size() != size_t(config.layers))
    return reader.fail("layer_types", "'layer_types' has " + Twine(types.size()) + " entries for " +
                                          Twine(config.layers) + " layers");
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    bool sliding = used && static_cast<double>(layer) >= first;
    if (!types.empty()) {
      sliding = types[layer] == "sliding_attention";
      if (!sliding && types[layer] != "full_attention")
        return reader.fail("layer_types", "'layer_types' has \"" + types[layer] +
                                              "\", which is not supported; supported are "
                                              "full_attention and sliding_attention");
    }
    config.windows[layer] = used && sliding ? window : 0;
  }
}

static void read(ConfigReader &reader, ModelConfig &config) {
  // `Qwen2Config`'s defaults.
  ModelConfig absent;
  absent.vocab = 151936;
  absent.maxPositions = 32768;
  absent.hidden = 4096;
  absent.layers = 32;
  absent.heads = 32;
  absent.kvHeads = 32;
  absent.intermediate = 22016;
  absent.normEpsilon = 1e-6;
  readRotaryDecoder(reader, config, absent);
  config.queryKeyValueBias = true;
  readWindows(reader, config);
  // Of the sparse and multimodal relatives, left over in some configs.
  reader.only("use_mrope", false, "uses multimodal rotary positions");
}

const Family qwen2Family = {"qwen2",          read,           addRotaryDecoderParameters, buildRotaryEmbed,
                            buildRotaryBlock, buildRotaryHead};

} // namespace mlir::par
